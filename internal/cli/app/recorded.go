package app

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"sync"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/policy"
)

// A Decider decides recorded calls by the configuration and the rules in force, like `umpire check`. It is safe for
// concurrent use.
type Decider struct {
	// Suggests adds the suggested rules to decisions.
	Suggests bool

	checker Checker
	opening sync.Mutex
}

// NewDecider returns a decider. If change is not nil, it changes the settings of each project first,
// given its root.
func NewDecider(a *App, change func(root string, c *gate.Config)) *Decider {
	own := *a // reading a configuration may change the language
	return &Decider{checker: Checker{
		app: &own, given: &Checking{}, folders: map[string]*checkedFolder{}, change: change,
	}}
}

// Decide decides a call in a project. own says that umpire's agent made the call: it runs commands in the sandbox, if
// this machine has one. An error is one of the configuration.
func (d *Decider) Decide(root string, call umpire.Call, own bool) (umpire.Decision, error) {
	d.opening.Lock()
	f, err := d.checker.openGate(root)
	d.opening.Unlock()
	if err != nil {
		return umpire.Decision{}, err
	}
	return f.decideCall(root, call, policy.Conditions{Brief: !d.Suggests}, own && f.held), nil
}

// Close stops the gates of the decider.
func (d *Decider) Close() { d.checker.Close() }

// A RecordedCall is a call in a file, and the number of times that it was made.
type RecordedCall struct {
	umpire.Call

	Times int
}

// ReadRecorded reads the lines of a file as `umpire check --stdin` does, and the "count" of a line. Calls without a
// folder get dir. An error names the line.
func ReadRecorded(name string, from io.Reader, dir string) ([]RecordedCall, error) {
	var all []RecordedCall
	in := bufio.NewReaderSize(from, 64<<10)
	for n := 1; ; n++ {
		text, err := strictjson.ReadLine(in, strictjson.MaxLine)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err == nil && len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var call RecordedCall
		if err == nil {
			call, err = readRecordedLine(text)
		}
		if err != nil {
			return nil, umpire.Errorf("%s:%d: %w", name, n, err)
		}
		if !filepath.IsAbs(call.Dir) {
			call.Dir = filepath.Join(dir, call.Dir)
		}
		all = append(all, call)
	}
}

func readRecordedLine(text []byte) (RecordedCall, error) {
	l, err := ReadCallLine(text)
	if err != nil {
		return RecordedCall{}, err
	}
	call := RecordedCall{Call: l.Call, Times: 1}
	if l.count == nil {
		return call, nil
	}
	if json.Unmarshal(l.count, &call.Times) != nil || call.Times < 1 {
		return call, errors.New("count: want a number above zero")
	}
	return call, nil
}

// A CallLine is one line of a stream of calls.
type CallLine struct {
	Call umpire.Call
	// ID is the id of the call in its own form: a string or a number.
	ID json.RawMessage

	count json.RawMessage // of a recorded call, as in the lines of `umpire bench`; nil if missing
}

// ReadCallLine reads a line. Its ID is there, if it could be read, with an error too.
func ReadCallLine(line []byte) (CallLine, error) {
	fields, err := strictjson.ReadObject(line)
	if fields == nil {
		return CallLine{}, umpire.Errorf("the line: %w", err)
	}
	l := CallLine{ID: json.RawMessage(`""`), count: fields["count"]}
	if id, ok := fields["id"]; ok {
		if id[0] != '"' && id[0] != '-' && (id[0] < '0' || id[0] > '9') {
			return CallLine{}, errors.New("id: want a string or a number")
		}
		l.ID = id
		l.Call.ID = umpire.CallID(bytes.Trim(id, `"`))
	}
	if err != nil {
		return l, err
	}
	return l, l.fill(fields)
}

// fill reads the fields of the call.
func (l *CallLine) fill(fields map[string]json.RawMessage) error {
	var dir, agent, session, command string
	texts := []struct {
		name string
		into *string
	}{{"tool", &l.Call.Tool}, {"cwd", &dir}, {"agent", &agent}, {"session_id", &session}, {"command", &command}}
	for _, t := range texts {
		if raw, ok := fields[t.name]; ok && json.Unmarshal(raw, t.into) != nil {
			return umpire.Errorf("%s: want a string", t.name)
		}
	}
	if raw, ok := fields["background"]; ok && json.Unmarshal(raw, &l.Call.Background) != nil {
		return errors.New("background: want true or false")
	}
	l.Call.Dir, l.Call.Agent, l.Call.Session = dir, agent, umpire.SessionID(session)
	_, hasCommand := fields["command"]
	input, hasInput := fields["input"]
	switch {
	case hasCommand && hasInput:
		return errors.New("command: give either a command or an input")
	case hasCommand && l.Call.Tool != "" && l.Call.Tool != "Bash":
		return errors.New("command: is for the tool Bash")
	case hasCommand:
		call, err := CommandCall(command)
		l.Call.Tool, l.Call.Input = call.Tool, call.Input
		return err
	case l.Call.Tool == "":
		return errors.New("tool: is missing, and there is no command")
	}
	l.Call.Input = input
	if !hasInput {
		l.Call.Input = json.RawMessage("{}")
	}
	if l.Call.Input[0] != '{' {
		return umpire.Errorf("input: want an object, got %s", strictjson.KindOf(l.Call.Input))
	}
	return nil
}
