package history_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/history"
)

var began = time.Date(2026, 11, 28, 23, 59, 30, 0, time.UTC)

// event returns an event some seconds after the beginning.
func event(seconds int, kind umpire.EventKind, call, data string, more ...func(*umpire.Event)) umpire.Event {
	e := umpire.Event{
		At: began.Add(time.Duration(seconds) * time.Second), Kind: kind, Session: "s1", Call: umpire.CallID(call),
		Project: "p", Agent: "claude", Tool: "Bash", Data: json.RawMessage(data),
	}
	for _, change := range more {
		change(&e)
	}
	return e
}

func by(actor string) func(*umpire.Event) { return func(e *umpire.Event) { e.Actor = actor } }

func about(request string) func(*umpire.Event) {
	return func(e *umpire.Event) { e.Request = umpire.RequestID(request) }
}

func code(c umpire.ReasonCode) func(*umpire.Event) { return func(e *umpire.Event) { e.Code = c } }

func accesses(list ...umpire.Access) func(*umpire.Event) {
	return func(e *umpire.Event) { e.Accesses = list }
}

// timeline has a call for each way in which a question can end.
func timeline() []umpire.Event {
	push := accesses(umpire.Access{Kind: umpire.KindExec, Program: "git", Table: "git push", Risk: umpire.High})
	write := accesses(umpire.Access{Kind: umpire.KindWrite, Target: "/x", Place: umpire.PlaceOutside, Risk: umpire.Medium})
	const ok = `{"status":"ok"}`
	return []umpire.Event{
		// A person approves after ten seconds; the call ends the next day.
		event(0, umpire.EventPermissionAsked, "approved", `{"input":{"command":"git push"}}`, about("r1"), push),
		event(10, umpire.EventPermissionApproved, "approved", `{"by":{"client":"tui"}}`, about("r1"), by("ann")),
		event(11, umpire.EventCallStarted, "approved", "{}", push),
		event(40, umpire.EventCallFinished, "approved", ok),
		// Another is denied within a second.
		event(41, umpire.EventPermissionAsked, "denied", "{}", about("r2"), write),
		event(42, umpire.EventPermissionRejected, "denied", "{}", about("r2"), by("ann")),
		event(42, umpire.EventCallFinished, "denied", `{"status":"denied"}`),
		// A trial answers the question before a person gets it.
		event(43, umpire.EventPermissionAsked, "tried", "{}", about("r3"), push),
		event(44, umpire.EventTrialRan, "tried", `{"counts":{"created":2}}`),
		event(44, umpire.EventPermissionApproved, "tried", "{}", about("r3"), by("gate")),
		event(45, umpire.EventEffectsKept, "tried", "{}"),
		event(45, umpire.EventCallFinished, "tried", ok),
		// A trial's effects are asked about: one question, not two.
		event(46, umpire.EventPermissionAsked, "shown", "{}", about("r4"), push),
		event(47, umpire.EventTrialRan, "shown", "{}"),
		event(47, umpire.EventPermissionAsked, "shown", "{}", about("r5"), write),
		event(50, umpire.EventPermissionApproved, "shown", "{}", about("r5"), by("ann")),
		event(51, umpire.EventCallFinished, "shown", ok),
		// Nobody answers in time, or could answer at all.
		event(52, umpire.EventPermissionAsked, "late", "{}", about("r6"), push),
		event(99, umpire.EventPermissionRejected, "late", "{}", about("r6"), by("gate"), code(umpire.CodeTimeout)),
		event(99, umpire.EventCallFinished, "late", `{"status":"timeout"}`),
		event(99, umpire.EventPermissionAsked, "alone", "{}", about("r7"), push, code(umpire.CodeAutoDeny)),
		event(99, umpire.EventPermissionRejected, "alone", "{}", about("r7"), by("gate"), code(umpire.CodeAutoDeny)),
		event(99, umpire.EventCallFinished, "alone", `{"status":"denied"}`),
		// It runs unasked, is left to its host, or still waits.
		event(99, umpire.EventCallStarted, "unasked", "{}"),
		event(99, umpire.EventCallFinished, "unasked", ok),
		event(99, umpire.EventPermissionBypassedByRule, "left", "{}", code(umpire.CodeLeftToHost)),
		event(99, umpire.EventPermissionAsked, "waits", "{}", about("r8"), push),
		{Kind: umpire.EventModeChanged, Session: "s1"},
	}
}

func TestTally(t *testing.T) {
	t.Parallel()
	tally := history.Tally{Undone: func(n history.Name) bool { return n.Call == "approved" || n.Call == "unasked" }}
	for _, e := range timeline() {
		tally.Add(&e)
	}
	s := tally.Summary()
	want := "calls 9, questions 5, approved 2, denied 1, quick 1, tried 2, undone 1, median 3"
	if got := fmt.Sprintf("calls %d, questions %d, approved %d, denied %d, quick %d, tried %d, undone %d, median %g",
		s.Calls, s.Questions, s.Approved, s.Denied, s.Quick, s.Tried, s.Undone, s.MedianSeconds); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := s.PerHundred(); got < 55 || got > 56 {
		t.Errorf("questions in 100 calls: got %g, want 5 of 9", got)
	}
	want = "[git push exec 3][ write 2]"
	got := ""
	for _, g := range s.Causes {
		got += fmt.Sprintf("[%s %s %d]", g.Of.Name, g.Of.Kind, g.Questions)
	}
	if got != want {
		t.Errorf("causes: got %s, want %s", got, want)
	}
	if len(s.Days) != 2 || s.Days[0].Of != "2026-11-28" || s.Days[0].Calls != 1 {
		t.Errorf("days: got %+v, want one call on the 28th and the others on the 29th", s.Days)
	}
	if len(s.Agents) != 1 || s.Agents[0].Of != "claude" || s.Agents[0].Questions != 5 {
		t.Errorf("agents: got %+v, want claude with all questions", s.Agents)
	}
}

func TestTallyOfNothing(t *testing.T) {
	t.Parallel()
	var tally history.Tally
	s := tally.Summary()
	if s.Calls != 0 || s.PerHundred() != 0 || s.Agents == nil {
		t.Errorf("got %+v, want zero counts and no groups", s)
	}
}

// An event that comes after the end of its call does not count it again.
func TestTallyIgnoresLateEvents(t *testing.T) {
	t.Parallel()
	var tally history.Tally
	for _, e := range append(timeline(), event(200, umpire.EventEffectsDiscarded, "shown", "{}")) {
		tally.Add(&e)
	}
	if s := tally.Summary(); s.Calls != 9 {
		t.Errorf("got %d calls, want 9", s.Calls)
	}
}

func TestCallTellsItsAnswers(t *testing.T) {
	t.Parallel()
	var c history.Call
	for _, e := range timeline() {
		if e.Call == "approved" {
			c.Add(&e)
		}
	}
	wait, answered := c.Questions[0].Wait()
	if q := c.Questions[0]; !answered || wait != 10*time.Second || q.By != "ann" || q.Client != "tui" || !q.Approved {
		t.Errorf("got %+v after %s, want an approval of ann in tui after 10s", q, wait)
	}
	if c.Status != umpire.ResultOK || c.Ended.Sub(c.Started) != 29*time.Second || string(c.Input) == "" {
		t.Errorf("got %+v, want an input, and a run of 29 s that ended well", c)
	}
}
