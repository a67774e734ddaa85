package run

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/internal/view"
	phrases "github.com/umpirehq/umpire/internal/view/catalogue"
)

// checkStream answers every line with one line, in order, as soon as possible. It
// returns nil at the end of the input, even if calls were denied.
func checkStream(ctx context.Context, a *app.App, d *checker) error {
	lines := readLines(ctx, a.Stdin)
	for {
		var l strictjson.Line
		select {
		case l = <-lines:
		case <-ctx.Done():
			return &app.CommandError{Code: app.ExitError}
		}
		if errors.Is(l.Err, io.EOF) {
			return nil
		}
		if l.Err != nil && !errors.Is(l.Err, strictjson.ErrLineTooLong) {
			return app.Failed(umpire.Errorf("read standard input: %w", l.Err))
		}
		// One write for each answer: the client waits for it.
		if _, err := a.Stdout.Write(append(view.VisibleJSON(d.decideLine(l.Text, l.Err)), '\n')); err != nil {
			return app.Failed(umpire.Errorf("write standard output: %w", err))
		}
	}
}

// readLines reads one line ahead, so a signal can end the program while it waits for
// input. The goroutine ends with the input, or if that never ends, with the process: a
// read of standard input cannot be cancelled.
func readLines(ctx context.Context, r io.Reader) <-chan strictjson.Line {
	lines, in := make(chan strictjson.Line), bufio.NewReaderSize(r, 64<<10)
	go func() {
		for {
			text, err := strictjson.ReadLine(in, strictjson.MaxLine)
			select {
			case lines <- strictjson.Line{Text: text, Err: err}:
			case <-ctx.Done():
				return
			}
			if err != nil && !errors.Is(err, strictjson.ErrLineTooLong) {
				return
			}
		}
	}()
	return lines
}

// decideLine decides one line. A line that is not a call is denied.
func (d *checker) decideLine(line []byte, problem error) []byte {
	var l callLine
	if problem == nil {
		l, problem = readCallLine(line)
	}
	if problem != nil {
		return invalidAnswer(l.id, problem)
	}
	l.call.Dir = d.dirOf(l.call.Dir)
	decision, err := d.decide(l.call)
	if err != nil {
		return invalidAnswer(l.id, err)
	}
	text, err := decisionJSON(l.id, decision)
	if err != nil {
		return invalidAnswer(l.id, err)
	}
	return text
}

func (d *checker) dirOf(dir string) string {
	switch {
	case dir == "":
		return d.dir
	case filepath.IsAbs(dir):
		return dir
	}
	return filepath.Join(d.dir, dir)
}

// invalidAnswer is the answer to a line that is not a call.
func invalidAnswer(id json.RawMessage, problem error) []byte {
	if len(id) == 0 {
		id = json.RawMessage(`""`)
	}
	text, err := json.Marshal(struct {
		ID         json.RawMessage   `json:"id"`
		Verdict    umpire.Verdict    `json:"verdict"`
		ReasonCode umpire.ReasonCode `json:"reason_code"`
		Reason     string            `json:"reason"`
	}{id, umpire.Deny, umpire.CodeInvalid, problem.Error()})
	if err != nil {
		return []byte(`{"id":"","verdict":"deny","reason_code":"invalid","reason":"the line cannot be answered"}`)
	}
	return text
}

// decisionJSON is a decision on one line, with the id of its call in front.
func decisionJSON(id json.RawMessage, d umpire.Decision) ([]byte, error) {
	text, err := json.Marshal(phrases.In(phrases.English, d))
	if err != nil || len(id) == 0 {
		return text, err
	}
	return append(append(append([]byte(`{"id":`), id...), ','), text[1:]...), nil
}

// A callLine is one line of a stream. The id keeps its form: a string or a number.
type callLine struct {
	id    json.RawMessage
	count json.RawMessage // of a recorded call, as in the lines of `umpire bench`; nil if missing
	call  umpire.Call
}

// readCallLine reads a line. Its id is there, if it could be read, with an error too.
func readCallLine(line []byte) (callLine, error) {
	fields, err := strictjson.ReadObject(line)
	if fields == nil {
		return callLine{}, umpire.Errorf("the line: %w", err)
	}
	l := callLine{id: json.RawMessage(`""`), count: fields["count"]}
	if id, ok := fields["id"]; ok {
		if id[0] != '"' && id[0] != '-' && (id[0] < '0' || id[0] > '9') {
			return callLine{}, errors.New("id: want a string or a number")
		}
		l.id = id
		l.call.ID = umpire.CallID(bytes.Trim(id, `"`))
	}
	if err != nil {
		return l, err
	}
	return l, l.fill(fields)
}

// fill reads the fields of the call.
func (l *callLine) fill(fields map[string]json.RawMessage) error {
	var dir, agent, session, command string
	texts := []struct {
		name string
		into *string
	}{{"tool", &l.call.Tool}, {"cwd", &dir}, {"agent", &agent}, {"session_id", &session}, {"command", &command}}
	for _, t := range texts {
		if raw, ok := fields[t.name]; ok && json.Unmarshal(raw, t.into) != nil {
			return umpire.Errorf("%s: want a string", t.name)
		}
	}
	if raw, ok := fields["background"]; ok && json.Unmarshal(raw, &l.call.Background) != nil {
		return errors.New("background: want true or false")
	}
	l.call.Dir, l.call.Agent, l.call.Session = dir, agent, umpire.SessionID(session)
	_, hasCommand := fields["command"]
	input, hasInput := fields["input"]
	switch {
	case hasCommand && hasInput:
		return errors.New("command: give either a command or an input")
	case hasCommand && l.call.Tool != "" && l.call.Tool != "Bash":
		return errors.New("command: is for the tool Bash")
	case hasCommand:
		call, err := app.CommandCall(command)
		l.call.Tool, l.call.Input = call.Tool, call.Input
		return err
	case l.call.Tool == "":
		return errors.New("tool: is missing, and there is no command")
	}
	l.call.Input = input
	if !hasInput {
		l.call.Input = json.RawMessage("{}")
	}
	if l.call.Input[0] != '{' {
		return umpire.Errorf("input: want an object, got %s", strictjson.KindOf(l.call.Input))
	}
	return nil
}
