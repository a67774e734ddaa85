package gate

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/batch"
	"github.com/umpirehq/umpire/internal/store"
)

// DS-1, D-20: a batch is known by its session and its message, and is returned in
// the model's order.
func TestBatchKey(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	for range 2 {
		s := d.session(umpire.Opening{})
		d.submit(s, "m1", d.threeCalls()...)
		b := must(d.Batch(t.Context(), s.ID, "m1"))(t)
		var ids []umpire.CallID
		for _, c := range b.Calls {
			ids = append(ids, c.ID)
		}
		if b.Session != s.ID || !slices.Equal(ids, []umpire.CallID{"a", "b", "c"}) {
			t.Errorf("the batch of %s is %+v", s.ID, b)
		}
	}
}

// D-22, D-24, D-26, N-28: while one call runs, no request can start another one, and nothing runs
// that was not started through the gate.
func TestOneCallAtATime(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	d.submit(s, "m1", command("a", "ls"), command("b", "ls"))
	start := func(id umpire.CallID) bool {
		return must(d.Start(t.Context(), umpire.Start{Session: s.ID, Batch: "m1", Call: id}))(t).Go
	}
	if start("b") {
		t.Error("the second call started before the first")
	}
	if _, err := d.Finish(t.Context(), umpire.Result{Session: s.ID, Batch: "m1", Call: "b", Status: umpire.ResultOK}); !errors.Is(err, umpire.ErrState) {
		t.Errorf("a call that never started was finished: %v", err)
	}
	if !start("a") || start("a") || start("b") {
		t.Error("want the first call once, and nothing beside it")
	}
	must(d.Finish(t.Context(), umpire.Result{Session: s.ID, Batch: "m1", Call: "a", Status: umpire.ResultOK}))(t)
	if !start("b") {
		t.Error("the second call does not start after the first")
	}
}

// M-104: submitting a call that is refused returns the text for the model, immediately and as
// stored.
func TestAnswersBearResults(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	want := func(when string, b umpire.Batch, output string) {
		t.Helper()
		stored := must(d.Batch(t.Context(), s.ID, b.ID))(t)
		for _, r := range []*umpire.Result{b.Calls[0].Result, stored.Calls[0].Result} {
			if r == nil || r.Output != output || r.At.IsZero() {
				t.Errorf("%s: the result is %+v, want %q", when, r, output)
			}
		}
	}
	want("handing in", d.submit(s, "m1", command("a", "rm -rf /")), `Error: Tool "Bash" was denied. deletes a system directory`)
	d.submit(s, "m2", command("b", "npm install x"))
	refused := must(d.Resolve(t.Context(), answerTo(d.pending("b"), umpire.Refuse)))(t)
	want("answering", refused, fillIn(deniedPlain, "Bash", "b", ""))
	d.submit(s, "m3", command("c", "ls"))
	must(d.Start(t.Context(), umpire.Start{Session: s.ID, Batch: "m3", Call: "c"}))(t)
	ran := must(d.Finish(t.Context(), umpire.Result{Session: s.ID, Batch: "m3", Call: "c", Status: umpire.ResultOK, Output: "out"}))(t)
	want("finishing", ran, "out")
}

// D-17, D-19, D-38, D-46: the message is stored before its calls run, and the results
// before the next request is built.
func TestStoredBeforeGoingOn(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	other := d.second() // reads the store by its own connection
	b := d.submit(s, "m1", command("a", "ls"))
	c := must(other.conversations.conversation(t.Context(), s.ID))(t)
	if len(c.Messages) != 1 || c.Messages[0].Batch != "m1" {
		t.Errorf("before anything ran the store has %+v", c.Messages)
	}
	d.run(s, b)
	c = must(other.conversations.conversation(t.Context(), s.ID))(t)
	if results := c.Batches["m1"].Results; len(results) != 1 || results[0].Output != "ran a" {
		t.Errorf("before the next request the store has %+v", results)
	}
}

// D-21, D-37, D-49, DS-13: the list of waiting questions has the oldest first, and nothing is left
// behind when it is empty.
func TestNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	d.submit(s, "m1", d.threeCalls()...)
	cards := must(d.Pending(t.Context(), umpire.PendingQuery{Session: s.ID}))(t)
	if len(cards) != 2 || cards[0].Call != "b" || cards[1].Call != "c" {
		t.Fatalf("waiting are %+v", cards)
	}
	got := must(d.sessions.Get(t.Context(), s.ID))(t)
	if got.Pending != 2 || got.Permission != umpire.StateWaiting {
		t.Errorf("the session has %d waiting and is %s", got.Pending, got.Permission)
	}
	d.approve("b", umpire.ScopeOnce)
	d.refuse("c", "")
	got = must(d.sessions.Get(t.Context(), s.ID))(t)
	if got.Pending != 0 || got.Permission == umpire.StateWaiting {
		t.Errorf("the session has %d waiting and is %s", got.Pending, got.Permission)
	}
	if cards := must(d.Pending(t.Context(), umpire.PendingQuery{}))(t); cards == nil || len(cards) != 0 {
		t.Errorf("the list is %#v", cards)
	}
}

// D-42, D-45, DS-9, DS-10, DS-12: one call that asks, in the background too, is asked
// about once, runs once, and its approval for once reaches no other call.
func TestApprovedOnceRunsOnce(t *testing.T) {
	t.Parallel()
	for _, background := range []bool{false, true} {
		d := newTestGate(t)
		s := d.session(umpire.Opening{})
		c := command("c", "npm install x")
		c.Background = background
		other := command("o", "npm install y")
		if b := d.submit(s, "m1", c, other); b.State != umpire.BatchWaiting || b.Calls[0].Background != background {
			t.Fatalf("the batch is %+v", b)
		}
		b := d.approve("c", umpire.ScopeOnce)
		if b.Waiting() != 1 || b.Call("o").State != umpire.CallAsked {
			t.Errorf("DS-3: the other call is %s", b.Call("o").State)
		}
		b = d.approve("o", umpire.ScopeOnce)
		if ran := d.run(s, b); !slices.Equal(ran, []string{"c", "o"}) {
			t.Errorf("ran %v", ran)
		}
		if n := count(d.kinds(s), umpire.EventPermissionAsked); n != 2 {
			t.Errorf("asked %d times about two calls", n)
		}
	}
}

// N-3: a client that sees an event sees the session in the state after that event, or later: the
// status is never behind the timeline.
func TestStatusIsNotBehindTheTimeline(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	var after int64
	next := func(kind umpire.EventKind) {
		t.Helper()
		for e, err := range d.Watch(t.Context(), umpire.Filter{Session: s.ID, After: after}) {
			if err != nil {
				t.Fatal(err)
			}
			if after = e.Seq; e.Kind == kind {
				return
			}
		}
	}
	want := func(state umpire.PermissionState, pending int, blocked bool) {
		t.Helper()
		got := must(d.sessions.Get(t.Context(), s.ID))(t)
		if got.Permission != state || got.Pending != pending || (got.Blocked != nil) != blocked {
			t.Errorf("the session is %s with %d waiting, blocked by %+v; want %s and %d", got.Permission, got.Pending, got.Blocked, state, pending)
		}
	}
	d.submit(s, "m1", command("c", "npm install x"))
	next(umpire.EventPermissionAsked)
	want(umpire.StateWaiting, 1, true)
	d.approve("c", umpire.ScopeOnce)
	next(umpire.EventPermissionApproved)
	want(umpire.StateAllowed, 0, false)
	d.run(s, must(d.Batch(t.Context(), s.ID, "m1"))(t))
	d.submit(s, "m2", command("d", "npm install y"))
	d.refuse("d", "no")
	next(umpire.EventPermissionRejected)
	want(umpire.StateDenied, 0, true)
}

// N-47: a session is blocked by its question while it waits, and afterwards shows that question's
// outcome.
func TestBlockedBy(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	want := func(when string, state umpire.PermissionState, code umpire.ReasonCode) {
		t.Helper()
		got := must(d.sessions.Get(t.Context(), s.ID))(t)
		by := umpire.ReasonCode("")
		if got.Blocked != nil {
			by = got.Blocked.Code
		}
		if got.Permission != state || by != code {
			t.Errorf("%s: %s, blocked by %q, want %s and %q", when, got.Permission, by, state, code)
		}
	}
	d.submit(s, "m1", command("never", "rm -rf /"))
	want("after a refusal", umpire.StateDenied, umpire.CodeCritical)
	d.submit(s, "m2", call("a", "Write", `{"file_path":"a","content":"x"}`), command("b", "rm -rf /"), call("c", "Write", `{"file_path":"c","content":"x"}`))
	want("asked beside a refusal", umpire.StateWaiting, umpire.CodeMode)
	d.refuse("a", "no")
	want("one of two denied", umpire.StateWaiting, umpire.CodeMode)
	d.approve("c", umpire.ScopeOnce)
	want("the other one approved", umpire.StateAllowed, "")
}

// N-29 to N-31, N-44 to N-51, N-68, N-70, N-73: every outcome is on the timeline, in
// its order, with the fields of a status line, and is there after a restart.
func TestTimelineTellsEverything(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	must(d.rules.Add(t.Context(), d.project, umpire.ScopeProject, umpire.Rule{
		ID: "mk", Action: umpire.Allow, Tool: "Bash", Match: umpire.Match{CommandPrefix: "make lint"},
	}, umpire.Actor{}))(t)
	s := d.session(umpire.Opening{Agent: "tester"})
	d.submit(s, "m1", command("rule", "make lint"), command("yes", "npm install x"),
		call("no", "Write", `{"file_path":"/q/x","content":"x"}`), command("never", "rm -rf /"))
	d.approve("yes", umpire.ScopeOnce)
	d.run(s, func() umpire.Batch { d.refuse("no", "not there"); return must(d.Batch(t.Context(), s.ID, "m1"))(t) }())
	d.shut()
	d.open()
	events := must(d.Events(t.Context(), umpire.Filter{Session: s.ID}))(t)
	of := func(id umpire.CallID) (all []umpire.Event, kinds []umpire.EventKind) {
		for _, e := range events {
			if e.Call == id {
				all, kinds = append(all, e), append(kinds, e.Kind)
			}
		}
		return all, kinds
	}
	for id, want := range map[umpire.CallID][]umpire.EventKind{
		"rule":  {umpire.EventPermissionBypassedByRule, umpire.EventCallStarted, umpire.EventCallFinished},
		"yes":   {umpire.EventPermissionAsked, umpire.EventPermissionApproved, umpire.EventGrantCreated, umpire.EventCallStarted, umpire.EventCallFinished},
		"no":    {umpire.EventPermissionAsked, umpire.EventPermissionRejected, umpire.EventCallFinished},
		"never": {umpire.EventPermissionRejected, umpire.EventCallFinished},
	} {
		if _, kinds := of(id); !slices.Equal(kinds, want) {
			t.Errorf("call %s has %v, want %v", id, kinds, want)
		}
	}
	yes, _ := of("yes")
	for _, e := range yes {
		if e.Request == "" || e.Request != yes[0].Request || e.Project == "" || e.Agent != "tester" || e.Tool != "Bash" {
			t.Errorf("N-73: %s has request %q, project %q, agent %q, tool %q", e.Kind, e.Request, e.Project, e.Agent, e.Tool)
		}
	}
	if e := yes[0]; e.State != umpire.StateWaiting || e.Type != umpire.ShellExecute || e.Risk != "high" || e.Blocked == nil || e.Blocked.Code == "" {
		t.Errorf("N-44 to N-47: asked is %+v", e)
	}
	if no, _ := of("no"); no[0].Type != umpire.ExternalDirectory || no[1].State != umpire.StateDenied || no[1].Code != umpire.CodeDenied {
		t.Errorf("the refusal is %+v", no)
	}
	if rule, _ := of("rule"); rule[0].Rule != "mk" {
		t.Errorf("the rule is %q", rule[0].Rule)
	}
	if never, _ := of("never"); never[0].Code != umpire.CodeCritical {
		t.Errorf("the hard stop is %+v", never[0])
	}
}

// D-7, D-48, D-50: the store is the only source: folding the events of a batch gives
// the batch as its rows have it.
func TestEventsAndRowsAgree(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	d.submit(s, "m1", d.threeCalls()...)
	d.approve("b", umpire.ScopeOnce)
	d.refuse("c", "no")
	b := must(d.Batch(t.Context(), s.ID, "m1"))(t)
	d.run(s, b)
	var replayed umpire.Batch
	for _, e := range must(d.Events(t.Context(), umpire.Filter{Session: s.ID}))(t) {
		if e.Batch != "m1" {
			continue
		}
		next, err := batch.Apply(replayed, must(batch.Decode(e))(t))
		if err != nil {
			t.Fatal(err)
		}
		replayed = next
	}
	rows := must(d.Batch(t.Context(), s.ID, "m1"))(t)
	if rows.State != replayed.State || rows.Resumes != replayed.Resumes || len(rows.Calls) != len(replayed.Calls) {
		t.Fatalf("rows %+v, events %+v", rows, replayed)
	}
	for i := range rows.Calls {
		a, b := rows.Calls[i], replayed.Calls[i]
		if a.State != b.State || a.Request != b.Request || a.Round != b.Round || a.Attempt != b.Attempt || a.Verdict != b.Verdict || a.Result.Status != b.Result.Status {
			t.Errorf("call %s: rows %+v, events %+v", a.ID, a, b)
		}
	}
}

// An answer that cannot be recorded did not happen.
func TestAnswerWithoutStore(t *testing.T) {
	t.Parallel()
	g := New(Config{})
	if _, err := g.Resolve(t.Context(), umpire.Answer{Request: "x", ArgsHash: "y", Choice: umpire.Approve}); !errors.Is(err, umpire.ErrState) {
		t.Errorf("a gate without a store gave %v", err)
	}
	if _, err := g.Submit(t.Context(), umpire.Submission{
		Session: "s", Batch: "b", Calls: []umpire.Call{{ID: "c", Tool: "Read", Input: json.RawMessage(`{}`)}},
	}); !errors.Is(err, umpire.ErrState) {
		t.Errorf("a gate without a store gave %v", err)
	}
	if err := g.be.view(t.Context(), func(*store.Tx) error { return nil }); !errors.Is(err, umpire.ErrState) {
		t.Errorf("a gate without a store gave %v", err)
	}
}

// MP-40: least privilege, deny first, reading for free, trust that grows, and a model that
// knows what was refused.
func TestPrinciples(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	first := func(id string, c umpire.Call) umpire.BatchCall {
		t.Helper()
		return d.submit(s, id, c).Calls[0]
	}
	if c := first("free", command("a", "cat a.txt")); c.Verdict != umpire.Allow {
		t.Errorf("reading is not free: %s", c.Reason)
	}
	d.run(s, must(d.Batch(t.Context(), s.ID, "free"))(t))
	if c := first("unknown", command("b", "make deploy")); c.Verdict != umpire.Ask {
		t.Errorf("what changes something is %s without anybody's word", c.Verdict)
	}
	refused := must(d.Resolve(t.Context(), answerTo(d.pending("b"), umpire.Refuse)))(t)
	if text := refused.Calls[0].Result.Output; !strings.Contains(text, "[Tool Denied]") {
		t.Errorf("the model is told %q", text)
	}
	first("trust", command("c", "make build"))
	d.run(s, d.approve("c", umpire.ScopeSession))
	if c := first("grown", command("e", "make build")); c.Verdict != umpire.Allow {
		t.Errorf("what was approved for the session is %s", c.Verdict)
	}
	d.run(s, must(d.Batch(t.Context(), s.ID, "grown"))(t))
	must(d.rules.Add(t.Context(), d.project, umpire.ScopeProject, umpire.Rule{Action: umpire.Deny, Tool: "Bash", Match: umpire.Match{CommandPrefix: "make"}}, umpire.Actor{}))(t)
	if c := first("deny", command("f", "make build")); c.Verdict != umpire.Deny || c.Code != umpire.CodeBlocked {
		t.Errorf("a deny rule does not come first: %s (%s)", c.Verdict, c.Code)
	}
}
