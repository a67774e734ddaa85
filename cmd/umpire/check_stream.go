package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"unicode/utf8"

	"github.com/umpirehq/umpire"
)

// maxLine is the longest line that is read as a call. A longer one is skipped,
// and answered.
const maxLine = 10 << 20

// checkStream answers every line with one line, in order, as soon as it can. It
// ends without an error when everything was read, whatever the verdicts.
func (a *app) checkStream(ctx context.Context, d *desk) error {
	lines := readLines(ctx, a.stdin)
	for {
		var l inputLine
		select {
		case l = <-lines:
		case <-ctx.Done():
			return &exit{code: exitError}
		}
		if errors.Is(l.err, io.EOF) {
			return nil
		}
		if l.err != nil && !errors.Is(l.err, errLineTooLong) {
			return failed(fmt.Errorf("read standard input: %w", l.err))
		}
		// One write for each answer: the client waits for it.
		if _, err := a.stdout.Write(append(d.answer(l.text, l.err), '\n')); err != nil {
			return failed(fmt.Errorf("write standard output: %w", err))
		}
	}
}

// An inputLine is one line of input, or why there is none.
type inputLine struct {
	text []byte
	err  error
}

// readLines reads one line ahead, so that a signal ends the program while it
// waits for input. The goroutine ends with the input or, when that never comes,
// with the process: a read of standard input cannot be called back.
func readLines(ctx context.Context, r io.Reader) <-chan inputLine {
	lines, in := make(chan inputLine), bufio.NewReaderSize(r, 64<<10)
	go func() {
		for {
			text, err := readLine(in, maxLine)
			select {
			case lines <- inputLine{text, err}:
			case <-ctx.Done():
				return
			}
			if err != nil && !errors.Is(err, errLineTooLong) {
				return
			}
		}
	}()
	return lines
}

var errLineTooLong = fmt.Errorf("the line is longer than %d bytes", maxLine)

// readLine returns the next line without its end. What goes beyond the limit is
// read and dropped, so that memory stays bounded and the next line is found.
func readLine(in *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	long := false
	for {
		piece, err := in.ReadSlice('\n')
		if !long && len(line)+len(piece) > limit+1 {
			long, line = true, nil
		}
		if !long {
			line = append(line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && (len(line) > 0 || long):
			err = nil
		}
		if err == nil && long {
			err = errLineTooLong
		}
		return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), err
	}
}

// answer decides one line. A line that is no call is denied.
func (d *desk) answer(line []byte, problem error) []byte {
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

func (d *desk) dirOf(dir string) string {
	switch {
	case dir == "":
		return d.dir
	case filepath.IsAbs(dir):
		return dir
	}
	return filepath.Join(d.dir, dir)
}

// invalidAnswer is the answer to what is no call.
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
	text, err := json.Marshal(d)
	if err != nil || len(id) == 0 {
		return text, err
	}
	return append(append(append([]byte(`{"id":`), id...), ','), text[1:]...), nil
}

// A callLine is one line of a stream. The id is kept as it was written: a string
// or a number.
type callLine struct {
	id   json.RawMessage
	call umpire.Call
}

// readCallLine reads a line. Its id is there, if it could be read, with an error too.
func readCallLine(line []byte) (callLine, error) {
	if !utf8.Valid(line) {
		return callLine{}, errors.New("the line is not valid UTF-8")
	}
	fields, err := readObject(line)
	if err != nil {
		return callLine{}, fmt.Errorf("the line is not a JSON object: %w", err)
	}
	l := callLine{id: json.RawMessage(`""`)}
	if id, ok := fields["id"]; ok {
		if id[0] != '"' && id[0] != '-' && (id[0] < '0' || id[0] > '9') {
			return callLine{}, errors.New("id: want a string or a number")
		}
		l.id = id
		l.call.ID = umpire.CallID(bytes.Trim(id, `"`))
	}
	return l, l.fill(fields)
}

// fill reads the fields that say what the call is.
func (l *callLine) fill(fields map[string]json.RawMessage) error {
	var dir, agent, session, command string
	texts := []struct {
		name string
		into *string
	}{{"tool", &l.call.Tool}, {"cwd", &dir}, {"agent", &agent}, {"session_id", &session}, {"command", &command}}
	for _, t := range texts {
		if raw, ok := fields[t.name]; ok && json.Unmarshal(raw, t.into) != nil {
			return fmt.Errorf("%s: want a string", t.name)
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
		return errors.New("command: stands for an input, give one of them")
	case hasCommand && l.call.Tool != "" && l.call.Tool != "Bash":
		return errors.New("command: is for the tool Bash")
	case hasCommand:
		call, err := commandCall(command)
		l.call.Tool, l.call.Input = call.Tool, call.Input
		return err
	case l.call.Tool == "":
		return errors.New("tool: is missing, and there is no command")
	}
	l.call.Input = input
	if !hasInput {
		l.call.Input = json.RawMessage("{}")
	}
	if problem := objectProblem(l.call.Input); problem != nil {
		return fmt.Errorf("input: want a JSON object: %w", problem)
	}
	return nil
}

// objectProblem says why a text is not one JSON object, each of whose keys
// stands once.
func objectProblem(text []byte) error {
	_, err := readObject(text)
	return err
}

// readObject reads the members of an object. A key that stands twice is an
// error: two readers may see two different calls.
func readObject(text []byte) (map[string]json.RawMessage, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	token, err := decoder.Token()
	if err != nil {
		return nil, jsonProblem(err)
	}
	if token != json.Delim('{') {
		return nil, errors.New("it does not begin with {")
	}
	fields := map[string]json.RawMessage{}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, jsonProblem(err)
		}
		key, _ := name.(string)
		if _, twice := fields[key]; twice {
			return nil, fmt.Errorf("%q stands twice", key)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, fmt.Errorf("%q: %w", key, jsonProblem(err))
		}
		fields[key] = value
	}
	if _, err := decoder.Token(); err != nil {
		return nil, jsonProblem(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the object")
	}
	return fields, nil
}

func jsonProblem(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends too early")
	}
	return err
}
