package gate

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/task"
	"github.com/umpirehq/umpire/internal/store"
)

// approveTask approves lines for a session, and returns the id of the task.
func (d *testGate) approveTask(s umpire.Session, lines ...string) string {
	d.t.Helper()
	made := must(task.Parse("task: Build it\nfor: 1h\nmay:\n" + strings.Join(lines, "\n")))(d.t)
	approved := must(d.Grants().ApproveTask(d.t.Context(), umpire.TaskApproval{
		Session: s.ID, Text: made.String(), Digest: made.Digest(), By: umpire.Actor{Name: "ann"},
	}))(d.t)
	return approved[0].ID
}

// asks reports whether a command asks in a session.
func (d *testGate) asks(s umpire.Session, line string) bool {
	d.t.Helper()
	c := command("check", line)
	c.Session, c.Dir = s.ID, d.project
	return must(d.Check(d.t.Context(), c))(d.t).Verdict != umpire.Allow
}

// TestTaskAllowsItsLines: calls of a task run as often as its lines say, and it ends in each way that it can.
func TestTaskAllowsItsLines(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	id := d.approveTask(s, "2x lost Bash(mybuild:*)", "1x lost Bash(mytest:*)")
	if d.asks(s, "mybuild a") || d.asks(s, "mytest a") || !d.asks(s, "other") || !d.asks(d.session(umpire.Opening{}), "mybuild a") {
		t.Error("the task allows something else than its lines for this session")
	}
	if ran := d.run(s, d.submit(s, "m1", command("c1", "mybuild a"))); len(ran) != 1 {
		t.Errorf("%v ran", ran)
	}
	// The last use is one call's, although both were decided before either ran.
	b := d.submit(s, "m2", command("c2", "mybuild b"), command("c3", "mybuild c"))
	if ran := d.run(s, b); len(ran) != 1 || ran[0] != "c2" {
		t.Errorf("%v ran", ran)
	}
	d.refuse("c3", "no")
	d.run(s, must(d.Batch(t.Context(), s.ID, "m2"))(t))
	used := []string{}
	for _, g := range must(d.grants.List(t.Context(), d.project))(t) {
		if g.Task != id {
			t.Errorf("%+v is no part of the task", g)
		}
		used = append(used, fmt.Sprintf("%s %d/%d", g.Kind, g.Uses, g.MaxUses))
	}
	if got := strings.Join(used, ", "); got != "task 0/0, session 2/2, session 0/1" {
		t.Error(got)
	}
	d.shut()
	d.open() // as after kill -9
	if !d.asks(s, "mybuild d") || d.asks(s, "mytest b") {
		t.Error("the uses are not the same after a restart")
	}
	d.pass(-2 * time.Hour) // a clock that is set back brings no use back
	if !d.asks(s, "mybuild d") {
		t.Error("a used line counts again")
	}
	d.pass(2*time.Hour + 59*time.Minute)
	if d.asks(s, "mytest b") {
		t.Error("it ended early")
	}
	d.pass(2 * time.Minute)
	if !d.asks(s, "mytest b") {
		t.Error("it outlives its time")
	}
	if n := count(d.kinds(s), umpire.EventTaskApproved); n != 1 {
		t.Errorf("%d events", n)
	}
}

// TestTaskAnswersWaitingCalls: an approved task answers the waiting questions inside it, which use its lines up; the
// others wait on.
func TestTaskAnswersWaitingCalls(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	d.submit(s, "m1", command("c1", "mybuild a"), command("c2", "mytest a"), command("c3", "git push --force"))
	d.approveTask(s, "1x lost Bash(mybuild:*)")
	waiting := must(d.Pending(t.Context(), umpire.PendingQuery{Session: s.ID}))(t)
	if len(waiting) != 2 || waiting[0].Call != "c2" || waiting[1].Call != "c3" {
		t.Fatalf("%d wait: %+v", len(waiting), waiting)
	}
	d.refuse("c2", "no")
	d.refuse("c3", "no")
	if ran := d.run(s, must(d.Batch(t.Context(), s.ID, "m1"))(t)); len(ran) != 1 || ran[0] != "c1" {
		t.Errorf("%v ran", ran)
	}
	if !d.asks(s, "mybuild b") {
		t.Error("the waiting call did not use up the line")
	}
	var by []string
	for _, e := range must(d.Events(t.Context(), umpire.Filter{Session: s.ID}))(t) {
		if e.Kind == umpire.EventPermissionApproved {
			by = append(by, string(e.Call)+" "+e.Actor)
		}
	}
	if len(by) != 1 || by[0] != "c1 ann" {
		t.Errorf("approved: %v", by)
	}
}

func TestTaskEnds(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	id := d.approveTask(s, "9x lost Bash(mybuild:*)", "9x lost Bash(mytest:*)")
	other := d.approveTask(s, "9x lost Bash(mylint:*)")
	if !d.asks(s, "mybuild && mylint") {
		t.Error("two tasks allow together what neither does")
	}
	revoked := must(d.grants.Revoke(t.Context(), umpire.Revocation{Dir: d.project, ID: id}))(t)
	if len(revoked) != 3 || !d.asks(s, "mybuild") || !d.asks(s, "mytest") || d.asks(s, "mylint") {
		t.Errorf("revoking %s ended %d grants, or those of %s", id, len(revoked), other)
	}
	if err := d.sessions.End(t.Context(), s.ID, "done"); err != nil {
		t.Fatal(err)
	}
	if list := must(d.grants.List(t.Context(), d.project))(t); len(list) != 0 {
		t.Errorf("%d grants outlive the session", len(list))
	}
	_, err := d.Grants().ApproveTask(t.Context(), approvalOf(t, s, "1x none Bash(mylint:*)"))
	if !errors.Is(err, umpire.ErrState) {
		t.Errorf("approving for a session that has ended: %v", err)
	}
}

func approvalOf(t *testing.T, s umpire.Session, line string) umpire.TaskApproval {
	made := must(task.Parse("task: Build it\nfor: 1h\nmay:\n" + line))(t)
	return umpire.TaskApproval{Session: s.ID, Text: made.String(), Digest: made.Digest()}
}

// TestTaskIsRefused: a text that is not the one shown, or that allows too much, is not approved.
func TestTaskIsRefused(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	for name, tt := range map[string]struct {
		change func(*umpire.TaskApproval)
		want   error
	}{
		"another text":   {func(a *umpire.TaskApproval) { a.Text = strings.Replace(a.Text, "1x", "2x", 1) }, umpire.ErrChanged},
		"another digest": {func(a *umpire.TaskApproval) { a.Digest = "" }, umpire.ErrChanged},
		"no text":        {func(a *umpire.TaskApproval) { a.Text = "" }, umpire.ErrInvalid},
		"no session":     {func(a *umpire.TaskApproval) { a.Session = "s1" }, umpire.ErrNotFound},
		"any command":    {func(a *umpire.TaskApproval) { *a = approvalOf(t, s, "1x none Bash(bash:*)") }, umpire.ErrInvalid},
		"the home":       {func(a *umpire.TaskApproval) { *a = approvalOf(t, s, "1x none Edit(~/**)") }, umpire.ErrInvalid},
	} {
		a := approvalOf(t, s, "1x none Bash(mylint:*)")
		tt.change(&a)
		if _, err := d.Grants().ApproveTask(t.Context(), a); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if list := must(d.grants.List(t.Context(), d.project))(t); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

// TestTaskIsInherited: a sub-agent shares the uses of its parent's task. Nothing inherits upward or aside.
func TestTaskIsInherited(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	child := d.session(umpire.Opening{Parent: s.ID})
	grandchild := d.session(umpire.Opening{Parent: child.ID})
	d.approveTask(s, "2x lost Bash(mybuild:*)")
	d.approveTask(child, "2x lost Bash(mytest:*)")
	fork := must(d.sessions.Fork(t.Context(), s.ID, umpire.Resumption{Dir: d.project}))(t)
	for _, tt := range []struct {
		of   umpire.Session
		line string
		asks bool
	}{
		{s, "mybuild", false}, {child, "mybuild", false}, {grandchild, "mybuild", false}, {fork, "mybuild", true},
		{s, "mytest", true}, {child, "mytest", false}, {grandchild, "mytest", false}, {fork, "mytest", true},
	} {
		if got := d.asks(tt.of, tt.line); got != tt.asks {
			t.Errorf("%s in %s asks: %t, want %t", tt.line, tt.of.ID, got, tt.asks)
		}
	}
	d.run(grandchild, d.submit(grandchild, "m1", command("c1", "mybuild")))
	d.run(s, d.submit(s, "m1", command("c1", "mybuild")))
	if !d.asks(child, "mybuild") {
		t.Error("a sub-agent has uses of its own")
	}
}

// TestTaskIsBoundToItsText: a grant that was changed in the store counts no more.
func TestTaskIsBoundToItsText(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	id := d.approveTask(s, "2x none Bash(mybuild:*)", "2x lost Bash(mylint:*)")
	err := d.be.store.Update(t.Context(), func(tx *store.Tx) error {
		return tx.Grants.Insert(store.GrantRow{
			ID: "forged", Scope: umpire.ScopeSession, Project: s.Project, GitDir: cloneOf(&s), Session: s.ID, Created: d.now(),
			Grant: umpire.Grant{Scope: umpire.ScopeSession, Task: id, Tool: "Bash", Match: umpire.Match{CommandPrefix: "mytest"}},
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if !d.asks(s, "mytest") || !d.asks(s, "mybuild") || d.asks(s, "mylint") {
		t.Error("the task allows what its text does not say")
	}
}
