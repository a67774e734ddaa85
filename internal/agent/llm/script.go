package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
)

const (
	// maxScript bounds a script; one for a demo takes a few kilobytes.
	maxScript = 16 << 20
	// maxDelay bounds the delay of one turn.
	maxDelay = 10 * time.Minute
	// scriptOver is the reply of a script without further turns.
	scriptOver = "done"
)

// A Script is a model that plays fixed turns: the nth reply of a conversation is the nth turn, and
// past the last one the text "done". The request alone determines the next turn, so a restarted
// process continues where the conversation is. It rejects what [Check] rejects.
type Script struct {
	turns []turn
}

// A turn is one reply of the script file.
type turn struct {
	Text  string `json:"text"`
	Calls []struct {
		ID    string          `json:"id"`
		Tool  string          `json:"tool"`
		Input json.RawMessage `json:"input"`
	} `json:"calls"`
	DelayMS float64 `json:"delay_ms"`
}

// ReadScript reads a script from a file.
func ReadScript(file string) (*Script, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, umpire.Errorf("script: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxScript+1))
	if err != nil {
		return nil, umpire.Errorf("script: %w", err)
	}
	if len(data) > maxScript {
		return nil, umpire.Errorf("script: %s: larger than %d bytes", file, maxScript)
	}
	s, err := ParseScript(data)
	if err != nil {
		return nil, umpire.Errorf("script: %s: %w", file, err)
	}
	return s, nil
}

// ParseScript parses a script: a JSON array of turns, each an object with the optional fields text,
// calls and delay_ms. An error names the turn, from 1, and the field.
func ParseScript(data []byte) (*Script, error) {
	var items []json.RawMessage
	if err := json.Unmarshal(data, &items); err != nil {
		return nil, umpire.Errorf("want a JSON array of turns: %w", addLine(data, err))
	}
	s := &Script{turns: make([]turn, len(items))}
	for i, item := range items {
		if err := s.turns[i].decodeTurn(item); err != nil {
			return nil, umpire.Errorf("turn %d: %w", i+1, err)
		}
	}
	return s, nil
}

// addLine adds the line number to a JSON syntax error.
func addLine(data []byte, err error) error {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return err
	}
	return umpire.Errorf("line %d: %w", 1+bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n")), err)
}

// decodeTurn decodes one turn and rejects one that cannot be played.
func (t *turn) decodeTurn(item json.RawMessage) error {
	if kind := strictjson.KindOf(item); kind != "an object" {
		return umpire.Errorf("is %s, want an object", kind)
	}
	if err := json.Unmarshal(item, t); err != nil {
		return fieldError(err)
	}
	if t.DelayMS < 0 || t.DelayMS > float64(maxDelay.Milliseconds()) {
		return umpire.Errorf("delay_ms: %v is not between 0 and %d", t.DelayMS, maxDelay.Milliseconds())
	}
	ids := map[string]bool{}
	for i, c := range t.Calls {
		switch {
		case c.ID == "":
			return umpire.Errorf("calls[%d].id: is missing", i)
		case ids[c.ID]:
			return umpire.Errorf("calls[%d].id: duplicate %q", i, c.ID)
		case c.Tool == "":
			return umpire.Errorf("calls[%d].tool: is missing", i)
		case len(c.Input) > 0 && strictjson.KindOf(c.Input) != "an object":
			return umpire.Errorf("calls[%d].input: is %s, want an object", i, strictjson.KindOf(c.Input))
		}
		ids[c.ID] = true
	}
	return nil
}

// fieldError names the field that has the wrong type, in the file's terms.
func fieldError(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return umpire.Errorf("%s: is a JSON %s, want %s", wrong.Field, wrong.Value, wrong.Type.Kind())
	}
	return err
}

// Reply plays the turn after the assistant's messages so far.
func (s *Script) Reply(ctx context.Context, r Request, onDelta func(Delta)) (Message, error) {
	if err := Check(r); err != nil {
		return Message{}, err
	}
	n := 0
	for _, m := range r.Messages {
		if m.Role == RoleAssistant {
			n++
		}
	}
	if n >= len(s.turns) {
		return Message{Role: RoleAssistant, Content: []Block{Text(scriptOver)}}, nil
	}
	return s.turns[n].play(ctx, onDelta)
}

// play waits for the turn's delay, and sends its text.
func (t *turn) play(ctx context.Context, onDelta func(Delta)) (Message, error) {
	delay := time.NewTimer(time.Duration(t.DelayMS * float64(time.Millisecond)))
	defer delay.Stop()
	select {
	case <-delay.C:
	case <-ctx.Done():
		return Message{}, context.Cause(ctx)
	}
	m := Message{Role: RoleAssistant}
	if t.Text != "" {
		m.Content = append(m.Content, Text(t.Text))
		if onDelta != nil {
			onDelta(Delta{Text: t.Text})
		}
	}
	for _, c := range t.Calls {
		m.Content = append(m.Content, Call(c.ID, c.Tool, c.Input))
	}
	return m, nil
}
