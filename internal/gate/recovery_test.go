package gate

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// D-12, D-18, D-43: everything is in the store, and survives a restart.
func TestRestart(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{Runner: "r"})
	d.submit(s, "m1", d.threeCalls()...)
	d.approve("b", umpire.ScopeOnce)
	d.shut()
	d.open()
	if n := len(must(d.Pending(t.Context(), umpire.PendingQuery{}))(t)); n != 1 {
		t.Fatalf("%d questions after a restart", n)
	}
	b := d.approve("c", umpire.ScopeOnce)
	if ran := d.run(s, b); len(ran) != 3 {
		t.Errorf("ran %v", ran)
	}
}

// If the runner of a started call is gone, a call that only looks runs again, and a person settles
// any other.
func TestLostCalls(t *testing.T) {
	t.Parallel()
	for _, choice := range []umpire.Choice{umpire.Approve, umpire.Refuse, umpire.Cancel} {
		t.Run(string(choice), func(t *testing.T) {
			t.Parallel()
			d := newTestGate(t)
			s := d.session(umpire.Opening{Runner: "r1"})
			d.submit(s, "m1", call("w", "Write", `{"file_path":`+quoted(d.file("b.txt"))+`,"content":"b"}`), call("r", "Read", `{"file_path":`+quoted(d.file("b.txt"))+`}`))
			d.approve("w", umpire.ScopeOnce)
			if !must(d.Start(t.Context(), umpire.Start{Session: s.ID, Batch: "m1", Call: "w", Epoch: s.Epoch, Runner: "r1"}))(t).Go {
				t.Fatal("not started")
			}
			if err := os.WriteFile(d.file("b.txt"), []byte("b"), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := d.sessions.Continue(t.Context(), umpire.Resumption{ID: s.ID, Dir: d.project, Runner: "r2"}); !errors.Is(err, umpire.ErrState) {
				t.Fatalf("the session was taken while its runner has a lease: %v", err)
			}
			d.pass(lease + time.Second)
			taken := must(d.sessions.Continue(t.Context(), umpire.Resumption{ID: s.ID, Dir: d.project, Runner: "r2"}))(t)
			if _, err := d.Finish(t.Context(), umpire.Result{Session: s.ID, Batch: "m1", Call: "w", Status: umpire.ResultOK, Epoch: s.Epoch}); !errors.Is(err, umpire.ErrFenced) {
				t.Errorf("the runner that was replaced is not fenced off: %v", err)
			}
			p := d.pending("w")
			if !p.Indeterminate || !strings.Contains(catalogue.English.Text(p.Reason), "is there now and was not before") {
				t.Errorf("the question is %+v", p)
			}
			if len(p.Accesses) != 1 || !slices.Equal(p.Paths, []string{d.file("b.txt")}) || p.Type != umpire.FileWrite || p.Access != "write" {
				t.Errorf("what it would have done is lost: %+v", p)
			}
			blind := answerTo(p, choice)
			if blind.ShownDigest = ""; p.ShownDigest == "" {
				t.Error("no answer can be bound to the question")
			}
			if _, err := d.Resolve(t.Context(), blind); !errors.Is(err, umpire.ErrChanged) {
				t.Errorf("an answer that names no card: %v", err)
			}
			b := must(d.Resolve(t.Context(), answerTo(p, choice)))(t)
			ran := d.run(taken, b)
			if choice == umpire.Cancel {
				if len(ran) != 0 {
					t.Errorf("after cancelling ran %v", ran)
				}
				return
			}
			if !slices.Equal(ran, []string{"r"}) {
				t.Errorf("ran %v: what was started is never run again", ran)
			}
			status := must(d.Batch(t.Context(), s.ID, "m1"))(t).Calls[0].Result.Status
			if (status == umpire.ResultOK) != (choice == umpire.Approve) {
				t.Errorf("after %s the result is %s", choice, status)
			}
		})
	}
}

// D-34: the question about the outcome of a command names the command, as the first question did.
func TestLostCommand(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{Runner: "r1"})
	lost := call("n", "Bash", `{"command":"npm install react > log"}`)
	lost.Extra = map[string]json.RawMessage{"customMeta": json.RawMessage(`1`)}
	d.submit(s, "m1", lost)
	before := d.pending("n")
	d.approve("n", umpire.ScopeOnce)
	must(d.Start(t.Context(), umpire.Start{Session: s.ID, Batch: "m1", Call: "n", Epoch: s.Epoch, Runner: "r1"}))(t)
	d.pass(lease + time.Second)
	if err := d.tend(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := d.pending("n")
	if !p.Indeterminate || p.CommandInfo == nil || p.CommandInfo.Command != "npm install react > log" || p.CommandInfo.BaseCommand != "npm" {
		t.Errorf("the question is %+v, about %+v", p, p.CommandInfo)
	}
	if !slices.Equal(p.Paths, before.Paths) || len(p.Accesses) != len(before.Accesses) || p.Type != before.Type {
		t.Errorf("what it would have done is lost: %+v", p)
	}
	if string(p.Extra["customMeta"]) != "1" {
		t.Errorf("the tool's own fields are lost: %v", p.Extra)
	}
}

// What only looks may be started again by the runner that took over.
func TestLostReadRunsAgain(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{Runner: "r1"})
	d.submit(s, "m1", call("r", "Read", `{"file_path":`+quoted(d.file("b.txt"))+`}`))
	start := umpire.Start{Session: s.ID, Batch: "m1", Call: "r", Epoch: s.Epoch, Runner: "r1"}
	if !must(d.Start(t.Context(), start))(t).Go || must(d.Start(t.Context(), start))(t).Go {
		t.Fatal("want one start and no second one by the same runner")
	}
	d.pass(lease + time.Second)
	taken := must(d.sessions.Continue(t.Context(), umpire.Resumption{ID: s.ID, Dir: d.project, Runner: "r2"}))(t)
	start.Epoch, start.Runner = taken.Epoch, "r2"
	if started := must(d.Start(t.Context(), start))(t); !started.Go || started.Attempt != 2 {
		t.Errorf("started is %+v", started)
	}
}

// Code of the project may do anything, even if the command looks harmless: it never runs again
// before a person was asked about its outcome.
func TestLostProjectCodeAsks(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"go test ./...", "npm test", "eslint .", "cd sub && pytest", "ls && cargo test"} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			d := newTestGate(t)
			s := d.session(umpire.Opening{Runner: "r1"})
			d.submit(s, "m1", command("c", line))
			d.approve("c", umpire.ScopeOnce)
			start := umpire.Start{Session: s.ID, Batch: "m1", Call: "c", Epoch: s.Epoch, Runner: "r1"}
			if !must(d.Start(t.Context(), start))(t).Go {
				t.Fatal("not started")
			}
			d.pass(lease + time.Second)
			taken := must(d.sessions.Continue(t.Context(), umpire.Resumption{ID: s.ID, Dir: d.project, Runner: "r2"}))(t)
			start.Epoch, start.Runner = taken.Epoch, "r2"
			if must(d.Start(t.Context(), start))(t).Go {
				t.Error("it ran a second time")
			}
			if !d.pending("c").Indeterminate {
				t.Error("nobody is asked what became of it")
			}
		})
	}
}
