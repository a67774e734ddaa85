package gate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

func exitPlan(id string) umpire.Call { return call(id, "ExitPlanMode", `{"plan":"do it"}`) }

func write(id, path string) umpire.Call {
	return call(id, "Write", `{"file_path":`+quoted(path)+`,"content":"x"}`)
}

// planning opens a session that is in plan mode, coming from another one.
func (d *testGate) planning(o umpire.Opening, before umpire.Mode) umpire.Session {
	d.t.Helper()
	o.Mode = &before
	s := d.session(o)
	plan := umpire.ModePlan
	return must(d.sessions.SetMode(d.t.Context(), umpire.ModeChange{Session: s.ID, Mode: &plan}))(d.t)
}

func (d *testGate) mode(s umpire.Session) umpire.Mode {
	d.t.Helper()
	return must(d.sessions.Get(d.t.Context(), s.ID))(d.t).Mode
}

// C-72, C-75, C-76: the plan goes to the person, and approving it brings the mode before
// back and permits the planned files.
func TestLeavingPlanMode(t *testing.T) {
	t.Parallel()
	for _, before := range []umpire.Mode{umpire.ModeDefault, umpire.ModeAuto, umpire.ModeAsk} {
		d := newTestGate(t)
		s := d.planning(umpire.Opening{}, before)
		d.run(s, d.submit(s, "m1", write("w1", d.file("a")), command("b1", "npm install x"), write("w2", filepath.Join(d.project, "new"))))
		b := d.submit(s, "m2", write("w3", filepath.Join(d.project, "late")), exitPlan("x1"))
		if b.State != umpire.BatchWaiting || b.Call("x1").State != umpire.CallAsked {
			t.Fatalf("%s: leaving is %s", before, b.State)
		}
		var seen []umpire.CallID
		for _, p := range d.pending("x1").Planned {
			seen = append(seen, p.Call)
		}
		if len(seen) != 4 || seen[3] != "w3" {
			t.Errorf("the person sees %v", seen)
		}
		if ran := d.run(s, d.approve("x1", umpire.ScopeOnce)); len(ran) != 1 || d.mode(s) != before {
			t.Errorf("%s: ran %v, mode %s", before, ran, d.mode(s))
		}
		for id, call := range map[string]umpire.Call{"1": write("n1", d.file("a")), "2": write("n2", filepath.Join(d.project, "new")), "3": write("n3", filepath.Join(d.project, "late"))} {
			if b := d.submit(s, "n"+id, call); b.State != umpire.BatchRunning {
				t.Errorf("%s: the planned file %s is %s", before, id, b.State)
			} else {
				d.run(s, b)
			}
		}
		if b := d.submit(s, "o", write("o1", filepath.Join(d.project, "other"))); b.State != umpire.BatchWaiting {
			t.Errorf("%s: another file is %s", before, b.State)
		}
	}
}

// C-74, C-77: files changed meanwhile ask, and only those.
func TestPlannedFilesAreCheckedAgain(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.planning(umpire.Opening{}, umpire.ModeDefault)
	changed, same, gone := d.file("changed"), d.file("same"), d.file("gone")
	for _, path := range []string{changed, same, gone} {
		if err := os.WriteFile(path, []byte("was"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d.submit(s, "m1", write("w1", changed), write("w2", same), write("w3", gone))
	d.submit(s, "m2", exitPlan("x1"))
	if err := errors.Join(os.WriteFile(changed, []byte("by another"), 0o600), os.Remove(gone)); err != nil {
		t.Fatal(err)
	}
	d.run(s, d.approve("x1", umpire.ScopeOnce))
	b := d.submit(s, "m3", write("n1", changed), write("n2", same), write("n3", gone))
	for id, want := range map[umpire.CallID]umpire.CallState{"n1": umpire.CallAsked, "n2": umpire.CallApproved, "n3": umpire.CallAsked} {
		if got := b.Call(id).State; got != want {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
	}
}

// A plan permits nothing that an approval of a file in the project would not: no path
// outside, no control file, nothing that a rule asks about or denies.
func TestPlansPermitFilesOfTheProjectOnly(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.planning(umpire.Opening{}, umpire.ModeDefault)
	outside := filepath.Join(t.TempDir(), "x")
	control := filepath.Join(d.project, ".git", "hooks", "pre-commit")
	calls := func(prefix string) []umpire.Call {
		return []umpire.Call{
			write(prefix+"1", outside), write(prefix+"2", control),
		}
	}
	d.submit(s, "m1", calls("w")...)
	d.submit(s, "m2", exitPlan("x1"))
	d.run(s, d.approve("x1", umpire.ScopeOnce))
	b := d.submit(s, "m3", calls("n")...)
	for i := range b.Calls {
		if b.Calls[i].State != umpire.CallAsked {
			t.Errorf("%s is %s", b.Calls[i].ID, b.Calls[i].State)
		}
	}
}

// A plan permits a command once, if only the mode asks about it and its card shows the whole of it.
func TestPlansPermitShownCommandsOnce(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.planning(umpire.Opening{}, umpire.ModeDefault)
	if err := os.WriteFile(d.file("make.sh"), []byte("echo made\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "x")
	asked, permitted := umpire.CallAsked, umpire.CallApproved
	lines := []struct {
		line string
		want umpire.CallState
	}{
		{"npm install x", permitted}, {"rm -rf old", permitted}, {"echo x >made", permitted},
		{"echo x >" + outside, asked}, {"cp .env copy", asked}, {"bash make.sh", asked}, {"rm -rf a\nrm -rf b", asked},
		{"echo x >.git/hooks/pre-commit", asked}, {"rm -rf " + strings.Repeat("x", 200), asked}, {"rm -rf $X", asked}, {"rm -rf a\u202eb", asked},
	}
	calls := func(prefix string) (all []umpire.Call) {
		for i := range lines {
			all = append(all, command(fmt.Sprint(prefix, i), lines[i].line))
		}
		return all
	}
	d.submit(s, "m1", calls("w")...)
	d.submit(s, "twofold", call("two", "Bash", `{"command":"rm -rf kept","COMMAND":"rm -rf shown"}`))
	d.submit(s, "m2", exitPlan("x1"))
	for _, c := range d.pending("x1").Planned {
		if c.Call == "two" && c.Command != "rm -rf kept" && c.Command != "" {
			t.Errorf("the card shows %q, and another command would run", c.Command)
		}
	}
	d.run(s, d.approve("x1", umpire.ScopeOnce))
	b := d.submit(s, "m3", calls("n")...)
	for i := range b.Calls {
		if b.Calls[i].State != lines[i].want {
			t.Errorf("%s is %s, want %s", lines[i].line, b.Calls[i].State, lines[i].want)
		}
	}
}

// Refusing a plan leaves plan mode as it is; in a headless session it is refused at once; and no
// scope lets the next plan pass unseen.
func TestPlansThatAreNotApproved(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.planning(umpire.Opening{}, umpire.ModeAuto)
	d.submit(s, "m1", exitPlan("x1"))
	d.refuse("x1", "more tests")
	if got := d.mode(s); got != umpire.ModePlan {
		t.Errorf("mode %s", got)
	}
	d.submit(s, "m2", call("x2", "ExitPlanMode", `{"plan":"with tests"}`))
	d.run(s, d.approve("x2", umpire.ScopeSession))
	plan := umpire.ModePlan
	must(d.sessions.SetMode(t.Context(), umpire.ModeChange{Session: s.ID, Mode: &plan}))(t)
	if b := d.submit(s, "m3", call("x3", "ExitPlanMode", `{"plan":"with more tests"}`)); b.State != umpire.BatchWaiting {
		t.Errorf("the next plan is %s", b.State)
	}
	alone := d.session(umpire.Opening{Headless: true, Mode: &plan})
	b := d.submit(alone, "h1", exitPlan("h1"))
	if c := b.Call("h1"); c.Code != umpire.CodeAutoDeny || d.mode(alone) != umpire.ModePlan {
		t.Errorf("nobody there: %+v, mode %s", c, d.mode(alone))
	}
	// A sub-agent does not end the plan mode of its parent.
	child := d.session(umpire.Opening{Parent: s.ID})
	if b := d.submit(child, "k1", exitPlan("k1")); b.Call("k1").Code != umpire.CodeBlocked || d.mode(s) != umpire.ModePlan {
		t.Errorf("a sub-agent's is %+v", b.Call("k1"))
	}
	// An agent that runs its calls itself asks its own user.
	host := d.session(umpire.Opening{ID: "host", External: true, Mode: &plan})
	if b := d.submit(host, "e1", exitPlan("e1")); b.State == umpire.BatchWaiting {
		t.Errorf("another agent's own tool is %s", b.State)
	}
}

// Bypass cannot be set in a session that was not opened for it, not even on the way out of plan mode.
func TestBypassNeedsItsSession(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	bypass, plan := umpire.ModeBypass, umpire.ModePlan
	for _, mode := range []*umpire.Mode{nil, &plan} {
		s := d.session(umpire.Opening{Mode: mode})
		was := d.mode(s)
		_, err := d.sessions.SetMode(t.Context(), umpire.ModeChange{Session: s.ID, Mode: &bypass})
		if !errors.Is(err, umpire.ErrInvalid) || d.mode(s) != was {
			t.Errorf("from %s: %v, and the mode is %s", was, err, d.mode(s))
		}
	}
	open := d.session(umpire.Opening{AllowBypass: true})
	if got := must(d.sessions.SetMode(t.Context(), umpire.ModeChange{Session: open.ID, Mode: &bypass}))(t); got.Mode != umpire.ModeBypass {
		t.Errorf("a session that was opened for it is in %s", got.Mode)
	}
	if _, err := d.sessions.Open(t.Context(), umpire.Opening{Dir: d.project, Mode: &bypass}); err == nil {
		t.Error("a session opens in bypass without being opened for it")
	}
}

// A person leaves plan mode too; the answer to a plan that is over is refused.
func TestPersonLeavesPlanMode(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.planning(umpire.Opening{AllowBypass: true}, umpire.ModeBypass)
	d.submit(s, "m1", write("w1", filepath.Join(d.project, "a")))
	d.submit(s, "m2", exitPlan("x1"))
	leave := umpire.ModeChange{Session: s.ID, LeavePlan: true}
	if got := must(d.sessions.SetMode(t.Context(), leave))(t); got.Mode != umpire.ModeBypass {
		t.Errorf("mode %s", got.Mode)
	}
	if _, err := d.sessions.SetMode(t.Context(), leave); !errors.Is(err, umpire.ErrState) {
		t.Errorf("twice: %v", err)
	}
	mode := umpire.ModeAsk
	if _, err := d.sessions.SetMode(t.Context(), umpire.ModeChange{Session: s.ID, LeavePlan: true, Mode: &mode}); !errors.Is(err, umpire.ErrInvalid) {
		t.Errorf("with a mode: %v", err)
	}
	d.run(s, d.approve("x1", umpire.ScopeOnce)) // the plan is over, and so the call does nothing
	if got := d.mode(s); got != umpire.ModeBypass {
		t.Errorf("mode %s", got)
	}
	// Opened in plan mode there is no mode before: the usual one follows.
	plan := umpire.ModePlan
	fresh := d.session(umpire.Opening{Mode: &plan})
	if got := must(d.sessions.SetMode(t.Context(), umpire.ModeChange{Session: fresh.ID, LeavePlan: true}))(t); got.Mode != umpire.ModeDefault {
		t.Errorf("opened in plan mode, then %s", got.Mode)
	}
}

// C-16 to C-18 in use: auto mode disables too broad rules, and enables them again.
func TestModeChangesTellWhatIsStripped(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	if err := os.MkdirAll(filepath.Join(d.home, ".umpire"), 0o700); err != nil {
		t.Fatal(err)
	}
	rules := `{"version": 1, "rules": [{"action": "allow", "tool": "Bash"}, {"action": "allow", "tool": "Bash", "match": {"commandPrefix": "npm i"}}]}`
	if err := os.WriteFile(filepath.Join(d.home, ".umpire", "permissions.json"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	s := d.session(umpire.Opening{})
	verdict := func() umpire.Verdict {
		c := command("c", "make x")
		c.Session = s.ID
		return must(d.Check(t.Context(), c))(t).Verdict
	}
	for _, step := range []struct {
		mode umpire.Mode
		want umpire.Verdict
	}{{umpire.ModeDefault, umpire.Allow}, {umpire.ModeAuto, umpire.Ask}, {umpire.ModeDefault, umpire.Allow}} {
		must(d.sessions.SetMode(t.Context(), umpire.ModeChange{Session: s.ID, Mode: &step.mode}))(t)
		if got := verdict(); got != step.want {
			t.Errorf("%s: %s", step.mode, got)
		}
	}
	var told []string
	for _, e := range must(d.Events(t.Context(), umpire.Filter{Session: s.ID}))(t) {
		if e.Kind == umpire.EventModeChanged {
			told = append(told, string(e.Data))
		}
	}
	want := []string{
		`{"from":"default","mode":"default"}`, `{"from":"default","mode":"auto","stripped":["Bash"]}`,
		`{"from":"auto","mode":"default","restored":["Bash"]}`,
	}
	for i := range want {
		if i >= len(told) || told[i] != want[i] {
			t.Errorf("told %v, want %v", told, want)
			break
		}
	}
}
