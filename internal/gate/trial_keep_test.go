package gate

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// testLayers are layers that are only counted.
type testLayers struct {
	waiting         []umpire.TrialID
	kept, discarded []umpire.TrialID
	fails           error // of Keep, from then on
	conflict        bool  // and it is one
}

func (l *testLayers) Waiting() ([]umpire.TrialID, error) { return l.waiting, nil }

func (l *testLayers) Keep(_ context.Context, id umpire.TrialID, digest string) (umpire.TrialSettlement, error) {
	s := umpire.TrialSettlement{Trial: id, Digest: digest, State: umpire.TrialKept}
	switch {
	case l.conflict:
		s.State, s.Paths = umpire.TrialConflict, []string{"a"}
	case l.fails != nil:
		s.State = umpire.TrialDiscarded
	default:
		l.kept = append(l.kept, id)
		l.drop(id)
	}
	return s, l.fails
}

func (l *testLayers) Discard(id umpire.TrialID) error {
	l.discarded = append(l.discarded, id)
	l.drop(id)
	return nil
}

func (l *testLayers) drop(id umpire.TrialID) {
	l.waiting = slices.DeleteFunc(l.waiting, func(at umpire.TrialID) bool { return at == id })
}

// A hostTrier is a host whose hook has a command line tried by a ticket.
type hostTrier struct {
	*trier

	layers *testLayers
	alive  bool // whether its runner is alive
	secret string
}

func newHostTrier(t *testing.T) *hostTrier {
	t.Helper()
	o := umpire.Opening{ID: "s1", Agent: "claude", External: true}
	h := &hostTrier{trier: newTrier(t, policy.AutonomyMedium, o), layers: &testLayers{}, alive: true}
	h.sandbox = nil
	h.Gate.be.config.Layers = h.layers
	h.Gate.be.config.Alive = func(runner string) (bool, bool) { return h.alive, strings.HasPrefix(runner, "exec") }
	return h
}

// useTicket submits a command line, and begins it by its ticket.
func (h *hostTrier) useTicket(command umpire.Call) umpire.Ticket {
	h.t.Helper()
	id := umpire.BatchID("m1")
	if command.ID != "c" {
		id += umpire.BatchID(command.ID)
	}
	sub := umpire.Submission{Session: "s1", Batch: id, Lane: string(id), Calls: []umpire.Call{command}}
	started := must(h.Admit(h.t.Context(), sub, "host:1:2", func(*umpire.Decision) umpire.Admission { return umpire.AdmitTrial }))(h.t)
	if started.Go || started.Batch.Calls[0].State != umpire.CallApproved || started.Batch.State != umpire.BatchRunning {
		h.t.Fatalf("admitted: %+v", started)
	}
	ticket := aTicket()
	ticket.Batch, ticket.Call = id, command.ID
	h.secret = must(h.IssueTicket(h.t.Context(), ticket))(h.t)
	use := useOf(h.secret)
	use.Runner = "exec:3:4"
	return must(h.tickets.Use(h.t.Context(), use))(h.t)
}

// end reports that the line made files.
func (h *hostTrier) end(id umpire.TrialID, change func(*umpire.TicketReport), names ...string) umpire.Batch {
	h.t.Helper()
	h.layers.waiting = append(h.layers.waiting, id)
	r := h.report(id, names...)
	report := umpire.TicketReport{Output: r.Output, Effects: r.Effects}
	if change != nil {
		change(&report)
	}
	return must(h.tickets.End(h.t.Context(), umpire.TicketEnd{Secret: h.secret, Report: &report}))(h.t).Batch
}

const guardedFile = ".git/hooks/pre-commit"

// TestTicketBeginsATrial: in the transaction that uses the ticket. What the line did is kept by
// the gate where it needs no question, and nothing of it runs again.
func TestTicketBeginsATrial(t *testing.T) {
	t.Parallel()
	h := newHostTrier(t)
	ticket := h.useTicket(command("c", unknownScript))
	if ticket.Trial == "" || ticket.Call != "c" {
		t.Fatalf("used: %+v", ticket)
	}
	b := h.end(ticket.Trial, nil, "made.txt")
	if c := b.Calls[0]; c.State != umpire.CallDone || c.Result.Status != umpire.ResultOK || c.Trial != "" || c.Result.Output != "it ran" {
		t.Errorf("ended: %+v", b)
	}
	if !slices.Equal(h.layers.kept, []umpire.TrialID{ticket.Trial}) {
		t.Errorf("kept %v", h.layers.kept)
	}
	h.wantKinds(umpire.EventPermissionAsked, umpire.EventTrialStarted, umpire.EventTrialRan, umpire.EventPermissionApproved,
		umpire.EventPermissionBypassedByRule, umpire.EventCallStarted, umpire.EventEffectsKept, umpire.EventCallFinished)
	if _, err := h.tickets.Use(t.Context(), useOf(h.secret)); !errors.Is(err, umpire.ErrState) {
		t.Errorf("used again: %v", err)
	}
}

// TestTicketOfAnAllowedCallStartsIt: nothing is tried that needs no question.
func TestTicketOfAnAllowedCallStartsIt(t *testing.T) {
	t.Parallel()
	h := newHostTrier(t)
	if ticket := h.useTicket(command("c", "mkdir x")); ticket.Trial != "" {
		t.Errorf("used: %+v", ticket)
	}
	h.wantKinds(umpire.EventPermissionBypassedByRule, umpire.EventCallStarted)
}

// TestHostsTrialWaitsForAPerson: the card shows the trial's effects. The host does not wait for the
// answer, and its report on the call is not an answer.
func TestHostsTrialWaitsForAPerson(t *testing.T) {
	t.Parallel()
	for name, choice := range map[string]umpire.Choice{"approved": umpire.Approve, "denied": umpire.Refuse, "cancelled": umpire.Cancel} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHostTrier(t)
			id := h.useTicket(command("c", unknownScript)).Trial
			finish := umpire.Result{Session: "s1", Batch: "m1", Call: "c", Status: umpire.ResultCancelled}
			if _, err := h.Finish(t.Context(), finish); !errors.Is(err, umpire.ErrState) {
				t.Errorf("while it ran: %v", err)
			}
			h.end(id, nil, guardedFile)
			h.alive = false
			if _, err := h.Finish(t.Context(), finish); !errors.Is(err, umpire.ErrState) {
				t.Errorf("while it waits: %v", err)
			}
			if err := h.tend(t.Context()); err != nil {
				t.Fatal(err)
			}
			card := h.pending("c")
			if card.Trial == nil || card.Trial.ID != id || card.Code != umpire.CodeControlFile {
				t.Fatalf("card: %+v", card)
			}
			b := must(h.Resolve(t.Context(), answerTo(card, choice)))(t)
			kept, discarded := []umpire.TrialID{id}, []umpire.TrialID(nil)
			if choice != umpire.Approve {
				kept, discarded = discarded, kept
			}
			if b.Calls[0].State != umpire.CallDone || !slices.Equal(h.layers.kept, kept) || !slices.Equal(h.layers.discarded, discarded) {
				t.Errorf("%+v, kept %v, discarded %v", b, h.layers.kept, h.layers.discarded)
			}
		})
	}
}

// TestHostsTrialThatIsNotAsked: an abandoned trial waits for a person even if it is allowed; one
// without changes is over; one that could not do the same as a run is discarded.
func TestHostsTrialThatIsNotAsked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		names  []string
		change func(*umpire.TicketReport)
		before func(h *hostTrier) // the line ends
		state  umpire.CallState
		status umpire.ResultStatus
	}{
		"late":           {[]string{"a"}, func(r *umpire.TicketReport) { r.Late = true }, nil, umpire.CallAsked, ""},
		"in background":  {[]string{"a"}, nil, (*hostTrier).moveToBackground, umpire.CallAsked, ""},
		"nothing, late":  {nil, func(r *umpire.TicketReport) { r.Late = true }, nil, umpire.CallDone, umpire.ResultOK},
		"nothing":        {nil, func(r *umpire.TicketReport) { r.Effects.Refused = wantedNetwork }, nil, umpire.CallDone, umpire.ResultOK},
		"nothing, fails": {nil, func(r *umpire.TicketReport) { r.Exit = 7 }, nil, umpire.CallDone, umpire.ResultError},
		"not whole":      {[]string{"a"}, func(r *umpire.TicketReport) { r.Effects.Whole = false }, nil, umpire.CallDone, umpire.ResultDenied},
		"network":        {[]string{"a"}, func(r *umpire.TicketReport) { r.Exit, r.Effects.Refused = 1, wantedNetwork }, nil, umpire.CallAsked, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHostTrier(t)
			id := h.useTicket(command("c", unknownScript)).Trial
			if c.before != nil {
				c.before(h)
			}
			b := h.end(id, c.change, c.names...)
			if got := b.Calls[0]; got.State != c.state || got.Result != nil && got.Result.Status != c.status {
				t.Errorf("ended: %+v, %+v", got, got.Result)
			}
			state, offer := umpire.TrialWaiting, umpire.NoTrial
			if name == "network" {
				state, offer = umpire.TrialDiscarded, umpire.TrialAgain
			}
			if c.state == umpire.CallAsked && (len(h.layers.kept) > 0 || h.pending("c").Trial.State != state ||
				h.pending("c").TrialOffer != offer) {
				t.Errorf("card: %+v", h.pending("c"))
			}
			if err := h.tend(t.Context()); err != nil || (c.state == umpire.CallDone && len(h.layers.waiting) > 0) {
				t.Errorf("left: %v, %v", h.layers.waiting, err)
			}
		})
	}
}

// TestNetworkIsAllowedOnce: the next trial of the very same call has the network, once, and not when
// the agent comes too late.
func TestNetworkIsAllowedOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		choice umpire.Choice
		wait   time.Duration
		want   bool
	}{
		"approved": {umpire.Approve, 0, true}, "tried": {umpire.Try, 0, true}, "denied": {umpire.Cancel, 0, false},
		"too late": {umpire.Approve, keepNetwork, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHostTrier(t)
			fails := func(r *umpire.TicketReport) { r.Exit, r.Effects.Refused = 1, wantedNetwork }
			first := h.useTicket(command("c", unknownScript))
			h.end(first.Trial, fails)
			must(h.Resolve(t.Context(), answerTo(h.pending("c"), c.choice)))(t)
			h.pass(c.wait)
			second := h.useTicket(command("d", unknownScript))
			if first.Reach != nil || second.Trial == "" || slices.Equal(second.Reach, []string{"registry.example:443"}) != c.want {
				t.Errorf("first %+v, second %+v", first, second)
			}
			h.end(second.Trial, fails)
			if third := h.useTicket(command("e", unknownScript)); third.Reach != nil {
				t.Errorf("twice: %+v", third)
			}
		})
	}
}

var wantedNetwork = []umpire.TrialAttempt{{Kind: umpire.AttemptNetwork, Target: "registry.example:443"}}

func (h *hostTrier) moveToBackground() {
	h.t.Helper()
	must(h.tickets.End(h.t.Context(), umpire.TicketEnd{Secret: h.secret}))(h.t)
}

// TestHostsTrialConflicts: the layer stays until a person settles it, and the timeline follows.
func TestHostsTrialConflicts(t *testing.T) {
	t.Parallel()
	h := newHostTrier(t)
	id := h.useTicket(command("c", unknownScript)).Trial
	h.layers.fails, h.layers.conflict = errors.New("somebody else has changed a"), true
	b := h.end(id, nil, "a")
	if c := b.Calls[0]; c.TrialState != umpire.TrialConflict || c.Result == nil || c.Result.Code != umpire.CodeChanged {
		t.Fatalf("ended: %+v", c)
	}
	if err := h.tend(t.Context()); err != nil || len(h.layers.waiting) != 1 {
		t.Errorf("a layer in conflict is gone: %v", err)
	}
	s := h.settlement(id, umpire.TrialKept, h.report(id, "a").Effects.Digest)
	s.Epoch = 0
	if b := h.settle(s); b.Calls[0].Trial != "" {
		t.Errorf("kept later: %+v", b.Calls[0])
	}
}

// TestHostsTrialOutlivesItsProcesses: one whose process has ended while it ran is discarded; one
// that ended while it kept is finished.
func TestHostsTrialOutlivesItsProcesses(t *testing.T) {
	t.Parallel()
	h := newHostTrier(t)
	h.useTicket(command("c", unknownScript))
	h.alive = false
	if err := h.tend(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := must(h.Batch(t.Context(), "s1", "m1"))(t)
	if c := b.Calls[0]; c.State != umpire.CallDone || c.Result.Status != umpire.ResultCancelled || c.Trial != "" {
		t.Errorf("it ran: %+v", c)
	}

	h = newHostTrier(t)
	id := h.useTicket(command("c", unknownScript)).Trial
	h.Gate.be.config.Layers = nil // another machine's
	if b := h.end(id, nil, "made.txt"); b.Calls[0].State != umpire.CallApproved {
		t.Fatalf("ended: %+v", b)
	}
	start := umpire.Start{Session: "s1", Batch: "m1", Call: "c", Runner: "exec:5:6"}
	if s := must(h.Start(t.Context(), start))(t); !s.Go || s.Trial == nil {
		t.Fatalf("started: %+v", s)
	}
	h.Gate.be.config.Layers, h.alive = h.layers, false
	if err := h.tend(t.Context()); err != nil {
		t.Fatal(err)
	}
	b = must(h.Batch(t.Context(), "s1", "m1"))(t)
	if c := b.Calls[0]; c.State != umpire.CallDone || c.Result.Status != umpire.ResultOK || len(h.layers.kept) != 1 {
		t.Errorf("it was kept: %+v, %v", c, h.layers.kept)
	}
}
