package gate

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// trustCode trusts the code of the project as it is.
func (d *testGate) trustCode() {
	d.t.Helper()
	p := must(d.projects.Project(d.project))(d.t)
	ledger := d.be.config.Code()
	must(ledger.Grant(&p.Bounds))(d.t)
}

// do submits calls, approves questions once, and runs the calls.
func (d *testGate) do(s umpire.Session, id string, calls ...umpire.Call) {
	d.t.Helper()
	b := d.submit(s, id, calls...)
	for _, c := range calls {
		if b.Call(c.ID).State == umpire.CallAsked {
			b = d.approve(string(c.ID), umpire.ScopeOnce)
		}
	}
	if ran := d.run(s, b); len(ran) != len(calls) {
		d.t.Fatalf("of %d calls ran %v", len(calls), ran)
	}
}

// Trusted code runs unasked until the agent writes files of the project; then it asks
// once, says which files, and an approval confirms them.
func TestCodeThatTheAgentWroteAsksOnce(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]umpire.Call{
		"write":   call("w", "Write", `{"file_path":"a_test.go","content":"x"}`),
		"edit":    call("w", "Edit", `{"file_path":"a_test.go","old_string":"a","new_string":"b"}`),
		"command": command("w", "cp b.go a_test.go"),
		"delete":  command("w", "rm a_test.go"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newTestGate(t)
			d.put("a_test.go", "a")
			d.trustCode()
			s := d.session(umpire.Opening{})
			d.do(s, "m0", call("r", "Read", `{"file_path":"a_test.go"}`))
			if b := d.submit(s, "m1", command("before", "go test ./...")); b.Call("before").State != umpire.CallApproved {
				t.Fatalf("trusted code is %s", b.Call("before").State)
			} else {
				d.run(s, b)
			}
			d.do(s, "m2", change)
			d.submit(s, "m3", command("t", "go test ./..."))
			card := d.pending("t")
			if card.Code != umpire.CodeWritten || !strings.Contains(catalogue.English.Text(card.Reason), "a_test.go") {
				t.Errorf("the question is %s: %s", card.Code, card.Reason)
			}
			b := d.approve("t", umpire.ScopeOnce)
			d.run(s, b)
			if b := d.submit(s, "m4", command("again", "go test ./...")); b.Call("again").State != umpire.CallApproved {
				t.Errorf("confirmed code is %s", b.Call("again").State)
			}
		})
	}
}

// An approval confirms code written before the question; a refusal confirms nothing.
func TestOnlyAnApprovalConfirmsCode(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	d.trustCode()
	s := d.session(umpire.Opening{})
	d.do(s, "m1", call("w", "Write", `{"file_path":"a.go","content":"x"}`))
	d.submit(s, "m2", command("t", "go test ./..."))
	d.refuse("t", "not yet")
	other := d.session(umpire.Opening{})
	d.submit(other, "m3", command("u", "go test ./..."))
	if code := d.pending("u").Code; code != umpire.CodeWritten {
		t.Errorf("after a refusal the question is %q", code)
	}
	third := d.session(umpire.Opening{})
	d.do(third, "m4", call("w2", "Write", `{"file_path":"b.go","content":"x"}`))
	d.run(other, d.approve("u", umpire.ScopeOnce))
	d.submit(third, "m5", command("v", "go test ./..."))
	if p := d.pending("v"); !strings.Contains(catalogue.English.Text(p.Reason), "b.go") || strings.Contains(catalogue.English.Text(p.Reason), "a.go") {
		t.Errorf("the question is: %s", p.Reason)
	}
}

// The writes of a pruned session are no longer known.
func TestPrunedWritesAreNotForgotten(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	prune := func() int64 {
		d.pass(time.Hour)
		key := must(store.OpenKey(t.TempDir()))(t)
		p := store.Pruner{Store: d.be.store, Key: key, Now: d.now}
		sessions, _, err := p.Prune(t.Context(), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return sessions
	}
	ended := func(call umpire.Call) {
		s := d.session(umpire.Opening{})
		d.do(s, "m1", call)
		if err := d.sessions.End(t.Context(), s.ID, ""); err != nil {
			t.Fatal(err)
		}
	}
	ended(call("before", "Write", `{"file_path":"a.go","content":"x"}`))
	d.pass(time.Second)
	d.trustCode()
	if n := prune(); n != 1 {
		t.Fatalf("pruned %d sessions", n)
	}
	s := d.session(umpire.Opening{})
	if b := d.submit(s, "m2", command("t", "go test ./...")); b.Call("t").State != umpire.CallApproved {
		t.Errorf("with a session from before pruned it is %s: %s", b.Call("t").State, b.Call("t").Reason)
	}
	ended(call("after", "Write", `{"file_path":"b.go","content":"x"}`))
	if n := prune(); n == 0 {
		t.Fatal("pruned nothing")
	}
	s = d.session(umpire.Opening{})
	if b := d.submit(s, "m3", command("u", "go test ./...")); b.Call("u").State != umpire.CallAsked {
		t.Errorf("with a session from after pruned it is %s: %s", b.Call("u").State, b.Call("u").Reason)
	}
}

// Without trust, and for files that are not the project's, nothing is asked that was not.
func TestWrittenElsewhere(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	d.trustCode()
	s := d.session(umpire.Opening{})
	d.do(s, "m1", call("w", "Write", `{"file_path":`+quoted(d.home+"/elsewhere/a.go")+`,"content":"x"}`))
	if b := d.submit(s, "m2", command("t", "go test ./...")); b.Call("t").State != umpire.CallApproved {
		t.Errorf("it is %s: %s", b.Call("t").State, b.Call("t").Reason)
	}
}

// Writes that were left to a host count as well.
func TestWritesLeftToTheHostCount(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	d.trustCode()
	s := d.session(umpire.Opening{ID: "h", External: true, Agent: "host"})
	write := umpire.Submission{Session: s.ID, Batch: "m1", Epoch: s.Epoch, Calls: []umpire.Call{call("w", "Write", `{"file_path":"a.go","content":"x"}`)}}
	must(d.Admit(t.Context(), write, "host", func(*umpire.Decision) umpire.Admission { return umpire.AdmitLeave }))(t)
	decision := must(d.Check(t.Context(), umpire.Call{Session: s.ID, Tool: "Bash", Input: command("", "go test ./...").Input}))(t)
	wrote := func(r umpire.Reason) bool { return r.Code == umpire.CodeWritten }
	if decision.Verdict != umpire.Ask || !slices.ContainsFunc(decision.Reasons, wrote) {
		t.Errorf("%v: %s", decision.Verdict, decision.Reason)
	}
}

// The trust in a clone's code is listed with its age, and revoked like any grant.
func TestTrustedCodeIsAGrant(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	if list := must(d.grants.List(t.Context(), d.project))(t); len(list) != 0 {
		t.Fatalf("grants %+v", list)
	}
	d.trustCode()
	list := must(d.grants.List(t.Context(), d.project))(t)
	if len(list) != 1 || list[0].Kind != umpire.GrantCode || list[0].CreatedAt.IsZero() {
		t.Fatalf("grants %+v", list)
	}
	must(d.grants.Revoke(t.Context(), umpire.Revocation{Dir: d.project, ID: umpire.CodeID, By: umpire.Actor{Name: "ann"}}))(t)
	if list := must(d.grants.List(t.Context(), d.project))(t); len(list) != 0 {
		t.Errorf("left are %+v", list)
	}
	events := must(d.Events(t.Context(), umpire.Filter{}))(t)
	if e := events[len(events)-1]; e.Kind != umpire.EventGrantRevoked || e.Actor != "ann" || !strings.Contains(string(e.Data), `"code"`) {
		t.Errorf("the timeline tells %+v", e)
	}
	s := d.session(umpire.Opening{})
	d.submit(s, "m1", command("t", "go test ./..."))
	if code := d.pending("t").Code; code != umpire.CodeProjectCode {
		t.Errorf("the question is %s", code)
	}
}
