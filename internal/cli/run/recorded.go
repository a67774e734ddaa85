package run

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"sync"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/policy"
)

// A Decider decides recorded calls by the configuration and the rules in force, like `umpire check`. It is safe for
// concurrent use.
type Decider struct {
	// Suggests adds the suggested rules to decisions.
	Suggests bool

	checker checker
	opening sync.Mutex
}

// NewDecider returns a decider. If change is not nil, it changes the settings of each project first,
// given its root.
func NewDecider(a *app.App, change func(root string, c *gate.Config)) *Decider {
	own := *a // reading a configuration may change the language
	return &Decider{checker: checker{
		app: &own, flags: &checkFlags{}, dir: a.Dir, cases: map[string]*checkedFolder{}, change: change,
	}}
}

// Decide decides a call in a project. own says that umpire's agent made the call: it runs commands in the sandbox, if
// this machine has one. An error is one of the configuration.
func (d *Decider) Decide(root string, call umpire.Call, own bool) (umpire.Decision, error) {
	d.opening.Lock()
	c, err := d.checker.openGate(root)
	d.opening.Unlock()
	if err != nil {
		return umpire.Decision{}, err
	}
	return c.decide(root, call, policy.Conditions{Brief: !d.Suggests}, own && c.held), nil
}

// Close stops the gates of the decider.
func (d *Decider) Close() { d.checker.closeGates() }

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
	l, err := readCallLine(text)
	if err != nil {
		return RecordedCall{}, err
	}
	call := RecordedCall{Call: l.call, Times: 1}
	if l.count == nil {
		return call, nil
	}
	if json.Unmarshal(l.count, &call.Times) != nil || call.Times < 1 {
		return call, errors.New("count: want a number above zero")
	}
	return call, nil
}
