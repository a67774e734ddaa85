package gate

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/umpirehq/umpire"
)

func (d *testGate) child(parent umpire.Session) umpire.Session {
	d.t.Helper()
	return d.session(umpire.Opening{Parent: parent.ID, Runner: "r"})
}

// N-16: a sub-agent's session is not a root session, and has its parent's settings.
func TestChildIsLikeItsParent(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	mode, other := umpire.ModeAsk, d.t.TempDir()
	parent := d.session(umpire.Opening{Mode: &mode, Headless: true, AddDirs: []string{other}, AllowBypass: true})
	child := d.child(parent)
	if child.IsRoot || child.Parent != parent.ID || child.Mode != umpire.ModeAsk || !child.Headless || !child.AllowBypass || len(child.AddDirs) != 1 {
		t.Errorf("the child is %+v", child)
	}
	plain := d.child(d.session(umpire.Opening{}))
	if plain.AllowBypass || plain.Headless || plain.AddDirs != nil || plain.Mode != umpire.ModeDefault {
		t.Errorf("the child of a plain session is %+v", plain)
	}
}

func TestChildIsRefused(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	parent := d.session(umpire.Opening{})
	loose, auto := umpire.ModeBypass, umpire.ModeAuto
	for name, tt := range map[string]struct {
		opening umpire.Opening
		want    error
	}{
		"a looser mode":      {umpire.Opening{Parent: parent.ID, Dir: d.project, Mode: &loose, AllowBypass: true}, umpire.ErrInvalid},
		"another mode":       {umpire.Opening{Parent: parent.ID, Dir: d.project, Mode: &auto}, umpire.ErrInvalid},
		"nobody's":           {umpire.Opening{Parent: "nobody", Dir: d.project}, umpire.ErrNotFound},
		"of another project": {umpire.Opening{Parent: parent.ID, Dir: t.TempDir()}, umpire.ErrOtherProject},
	} {
		if _, err := d.sessions.Open(t.Context(), tt.opening); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	child := d.child(parent)
	if _, err := d.sessions.SetMode(t.Context(), umpire.ModeChange{Session: child.ID, Mode: &auto}); !errors.Is(err, umpire.ErrInvalid) {
		t.Errorf("switched by itself: %v", err)
	}
	if _, err := d.sessions.SetMode(t.Context(), umpire.ModeChange{Session: child.ID, LeavePlan: true}); !errors.Is(err, umpire.ErrInvalid) {
		t.Errorf("left plan mode by itself: %v", err)
	}
	r := umpire.Resumption{ID: d.session(umpire.Opening{Parent: parent.ID}).ID, Dir: d.project, Mode: &auto}
	if _, err := d.sessions.Continue(t.Context(), r); !errors.Is(err, umpire.ErrInvalid) {
		t.Errorf("gone on with in another mode: %v", err)
	}
}

// Tightening a session tightens its sub-agents at once.
func TestChildFollowsItsParent(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	parent := d.session(umpire.Opening{})
	child := d.child(parent)
	write := func(id string) umpire.CallState {
		call := call(id, "Write", `{"file_path":`+quoted(filepath.Join(d.project, "a"))+`,"content":""}`)
		return d.submit(child, "b-"+id, call).Calls[0].State
	}
	if got := write("w1"); got != umpire.CallAsked {
		t.Fatalf("in default mode a write is %s", got)
	}
	plan, b := umpire.ModePlan, d.approve("w1", umpire.ScopeOnce)
	must(d.sessions.SetMode(t.Context(), umpire.ModeChange{Session: parent.ID, Mode: &plan}))(t)
	if ran := d.run(child, b); len(ran) > 0 {
		t.Errorf("in the parent's plan mode ran %v", ran)
	}
	if got := write("w2"); got != umpire.CallDone {
		t.Errorf("in the parent's plan mode a write is %s", got)
	}
}

// Auto mode that has refused too often asks, and so it does for a new sub-agent.
func TestChildInheritsDistrust(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	auto := umpire.ModeAuto
	parent := d.session(umpire.Opening{Mode: &auto})
	for _, id := range []string{"1", "2", "3"} {
		d.run(parent, d.submit(parent, "b"+id, command(id, "git push --force origin main"+id)))
	}
	child := d.child(parent)
	if b := d.submit(child, "c", command("c", "git push --force origin main")); b.State != umpire.BatchWaiting {
		t.Errorf("the batch is %s: %+v", b.State, b.Calls[0])
	}
}

// Sub-agents end with their parent: no more questions are asked on its behalf.
func TestChildEndsWithItsParent(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	parent := d.session(umpire.Opening{})
	child := d.child(parent)
	d.submit(child, "b", command("c", "npm install x"))
	if err := d.sessions.End(t.Context(), parent.ID, "enough"); err != nil {
		t.Fatal(err)
	}
	if s := must(d.sessions.Get(t.Context(), child.ID))(t); s.State != umpire.SessionOver {
		t.Errorf("the child is %s", s.State)
	}
	if waiting := must(d.Pending(t.Context(), umpire.PendingQuery{}))(t); len(waiting) > 0 {
		t.Errorf("%d questions wait", len(waiting))
	}
	if _, err := d.sessions.Open(t.Context(), umpire.Opening{Parent: parent.ID, Dir: d.project}); !errors.Is(err, umpire.ErrState) {
		t.Errorf("a child of an ended session: %v", err)
	}
}

// A sub-agent that was started may be started again: it continues in its own session.
func TestTaskIsStartedAgain(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{Runner: "first"})
	b := d.submit(s, "b", call("t", "Task", `{"prompt":"p"}`))
	start := umpire.Start{Session: s.ID, Batch: b.ID, Call: "t", Epoch: s.Epoch, Runner: "first"}
	if started := must(d.Start(t.Context(), start))(t); !started.Go || started.Decision.Type != umpire.Task {
		t.Fatalf("the first start: %+v", started)
	}
	d.pass(2 * lease)
	s = must(d.sessions.Continue(t.Context(), umpire.Resumption{ID: s.ID, Dir: d.project, Runner: "second"}))(t)
	start.Epoch, start.Runner = s.Epoch, "second"
	if started := must(d.Start(t.Context(), start))(t); !started.Go || started.Attempt != 2 {
		t.Errorf("the second start: %+v", started)
	}
}
