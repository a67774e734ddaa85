package gate

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/store/sqlite"
	"github.com/umpirehq/umpire/policy"
)

// A testGate is a gate with a store, a project and a clock of a test's own.
type testGate struct {
	*Gate

	t             *testing.T
	home, project string
	database      string
	settings      config.Settings
	clock         time.Time
	mu            sync.Mutex
}

func newTestGate(t *testing.T) *testGate {
	t.Helper()
	d := &testGate{t: t, home: t.TempDir(), project: t.TempDir(), clock: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)}
	d.database = filepath.Join(d.home, "state", "umpire.db")
	d.settings = config.Settings{Settings: policy.Settings{Mode: umpire.ModeDefault}, MaxPending: 100, MaxDenialsInRow: 3, MaxDenials: 20, Remember: time.Hour}
	d.open()
	t.Cleanup(func() { d.shut() })
	return d
}

// open opens the gate again, like a process that starts.
func (d *testGate) open() {
	d.t.Helper()
	s, err := sqlite.Open(context.Background(), d.database)
	if err != nil {
		d.t.Fatal(err)
	}
	d.Gate = New(Config{
		UserHome: d.home, Home: filepath.Join(d.home, ".umpire"), Store: s, Now: d.now,
		SettingsOf: func(string) (config.Settings, error) { return d.settings, nil },
	})
}

func (d *testGate) shut() {
	d.t.Helper()
	if d.Gate == nil {
		return
	}
	if err := errors.Join(d.Gate.Close(), d.Gate.be.store.Close()); err != nil {
		d.t.Error(err)
	}
	d.Gate = nil
}

func (d *testGate) now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clock = d.clock.Add(time.Millisecond)
	return d.clock
}

func (d *testGate) pass(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clock = d.clock.Add(by)
}

func must[T any](value T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func (d *testGate) session(o umpire.Opening) umpire.Session {
	d.t.Helper()
	if o.Dir == "" {
		o.Dir = d.project
	}
	return must(d.sessions.Open(d.t.Context(), o))(d.t)
}

// call returns one call; a plain command means Bash.
func call(id, tool, input string) umpire.Call {
	return umpire.Call{ID: umpire.CallID(id), Tool: tool, Input: json.RawMessage(input)}
}

func command(id, line string) umpire.Call {
	return call(id, "Bash", `{"command":`+quoted(line)+`}`)
}

func quoted(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

func (d *testGate) submit(s umpire.Session, id string, calls ...umpire.Call) umpire.Batch {
	d.t.Helper()
	return must(d.Submit(d.t.Context(), umpire.Submission{
		Session: s.ID, Batch: umpire.BatchID(id), Calls: calls, Epoch: s.Epoch, Message: json.RawMessage(`{"text":"m"}`),
	}))(d.t)
}

// pending returns the one question about a call.
func (d *testGate) pending(id string) umpire.Pending {
	d.t.Helper()
	for _, p := range must(d.Pending(d.t.Context(), umpire.PendingQuery{}))(d.t) {
		if p.Call == umpire.CallID(id) {
			return p
		}
	}
	d.t.Fatalf("call %s is not pending", id)
	return umpire.Pending{}
}

func answerTo(p umpire.Pending, choice umpire.Choice) umpire.Answer {
	return umpire.Answer{
		Request: p.Request, ArgsHash: p.ArgsHash, ShownDigest: p.ShownDigest, Version: p.Version, Choice: choice, Actor: "ann", Channel: "test",
	}
}

func (d *testGate) approve(id string, scope umpire.Scope) umpire.Batch {
	d.t.Helper()
	a := answerTo(d.pending(id), umpire.Approve)
	a.Scope = scope
	return must(d.Resolve(d.t.Context(), a))(d.t)
}

func (d *testGate) refuse(id, reason string) {
	d.t.Helper()
	a := answerTo(d.pending(id), umpire.Refuse)
	a.Reason = reason
	must(d.Resolve(d.t.Context(), a))(d.t)
}

// run starts and finishes every call that may run, in order, and returns the ids
// of those that ran.
func (d *testGate) run(s umpire.Session, b umpire.Batch) (ran []string) {
	d.t.Helper()
	for b.State == umpire.BatchRunning {
		next := b.Next()
		started := must(d.Start(d.t.Context(), umpire.Start{Session: s.ID, Batch: b.ID, Call: next.ID, Epoch: s.Epoch, Runner: "r"}))(d.t)
		if !started.Go {
			b = started.Batch
			continue
		}
		ran = append(ran, string(next.ID))
		b = must(d.Finish(d.t.Context(), umpire.Result{
			Session: s.ID, Batch: b.ID, Call: next.ID, Status: umpire.ResultOK, Output: "ran " + string(next.ID), Epoch: s.Epoch,
		}))(d.t)
	}
	return ran
}

// kinds are the kinds of the session's events, in order.
func (d *testGate) kinds(s umpire.Session) []umpire.EventKind {
	d.t.Helper()
	var all []umpire.EventKind
	for _, e := range must(d.Events(d.t.Context(), umpire.Filter{Session: s.ID}))(d.t) {
		all = append(all, e.Kind)
	}
	return all
}

func count(kinds []umpire.EventKind, kind umpire.EventKind) int {
	n := 0
	for _, k := range kinds {
		if k == kind {
			n++
		}
	}
	return n
}

func (d *testGate) file(name string) string { return filepath.Join(d.project, name) }

func (d *testGate) threeCalls() []umpire.Call {
	return []umpire.Call{
		call("a", "Read", `{"file_path":`+quoted(d.file("a.txt"))+`}`),
		call("b", "Write", `{"file_path":`+quoted(d.file("b.txt"))+`,"content":"b"}`),
		command("c", "npm install x"),
	}
}
