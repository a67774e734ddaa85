package run

import (
	"bufio"
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
func checkStream(ctx context.Context, a *app.App, c *app.Checker) error {
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
		if _, err := a.Stdout.Write(append(view.VisibleJSON(decideLine(c, l.Text, l.Err)), '\n')); err != nil {
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
func decideLine(c *app.Checker, line []byte, problem error) []byte {
	var l app.CallLine
	if problem == nil {
		l, problem = app.ReadCallLine(line)
	}
	if problem != nil {
		return invalidAnswer(l.ID, problem)
	}
	if !filepath.IsAbs(l.Call.Dir) {
		l.Call.Dir = filepath.Join(c.Dir, l.Call.Dir)
	}
	decision, err := c.Decide(l.Call)
	if err != nil {
		return invalidAnswer(l.ID, err)
	}
	text, err := decisionJSON(l.ID, decision)
	if err != nil {
		return invalidAnswer(l.ID, err)
	}
	return text
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
