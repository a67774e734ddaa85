package gate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// Submit decides all calls of one message and stores them before any runs. If one asks, all wait.
// Submitting the same again returns the batch's current state.
func (g *Gate) Submit(ctx context.Context, s umpire.Submission) (umpire.Batch, error) {
	b, _, err := g.decideAndStore(ctx, &s, (*transaction).submit)
	return b, err
}

// Admit submits one call like Submit, and starts it like Start in the same transaction if it may
// run: a host that asks call by call then waits for one commit instead of two. The timeline has the
// same events as after both. If the call does not start, the batch tells the reason; submitting the
// same again never starts it.
//
// choose sees the decision before anything is stored, as if a person could be asked, and chooses
// how to admit the call: see [umpire.Admission]. If choose is nil, the call starts. The result for
// a call that is not submitted has the decision but neither Go nor a batch.
//
// The call is not decided a second time, because no time passes in between.
func (g *Gate) Admit(
	ctx context.Context, s umpire.Submission, runner string, choose func(*umpire.Decision) umpire.Admission,
) (umpire.Started, error) {
	if len(s.Calls) != 1 {
		return umpire.Started{}, invalid("calls", "want 1, got %d", len(s.Calls))
	}
	var started umpire.Started
	b, stored, err := g.decideAndStore(ctx, &s, func(t *transaction, sub *submission) (*umpire.Batch, error) {
		if s.Ran {
			return nil, t.recordRan(sub)
		}
		started = umpire.Started{}
		chosen := umpire.AdmitStart
		if d := g.projects.decideAttended(sub.conditions, sub.calls[0]); choose != nil && sub.calls[0].denied == nil {
			started.Decision = d
			chosen = choose(&d)
		}
		switch chosen {
		case umpire.AdmitNothing:
			return nil, nil
		case umpire.AdmitLeave:
			return nil, t.leaveToHost(sub, started.Decision)
		case umpire.AdmitTrial, umpire.AdmitLed:
			j := sub.calls[0]
			j.decision, j.unasked, j.state, j.question = started.Decision, false, umpire.CallApproved, nil
		case umpire.AdmitStart, umpire.AdmitLater:
		}
		b, err := t.submit(sub)
		if err == nil && (chosen == umpire.AdmitStart || chosen == umpire.AdmitLed) {
			started, err = t.admit(b, sub, runner)
		}
		return b, err
	})
	switch {
	case err != nil:
		return umpire.Started{}, err
	case !stored:
		return umpire.Started{Batch: b}, nil
	case started.Go:
		g.be.reached("started")
	}
	started.Batch = b
	return started, nil
}

// decideAndStore decides the calls and lets take store them in one transaction. If take returns a
// nil batch, nothing is stored. stored is false if the batch was already submitted. docs/submit.md
// lists the steps.
func (g *Gate) decideAndStore(
	ctx context.Context, s *umpire.Submission, take func(*transaction, *submission) (*umpire.Batch, error),
) (b umpire.Batch, stored bool, err error) {
	unlock, err := g.submitting.lock(ctx, string(s.Session)+" "+string(s.Batch))
	if err != nil {
		return umpire.Batch{}, false, err
	}
	defer unlock()
	sub, existing, err := g.prepareSubmission(ctx, s)
	if err != nil {
		return umpire.Batch{}, false, err
	}
	if existing != nil {
		return *existing, false, nil
	}
	g.be.reached("judged")
	var taken *umpire.Batch
	err = g.be.step(ctx, s.Session, s.Epoch, func(t *transaction) error {
		taken, err = take(t, sub)
		return err
	}, func(tx *store.Tx) {
		_, _ = tx.Batches.GetOpen(s.Session, s.Lane)
		if sub.asking > 0 {
			_, _, _ = tx.Sessions.CountOpen(sub.conditions.session.Runner)
		}
	})
	if isConflict(err) || errors.Is(err, umpire.ErrState) {
		// Another process may have stored the same submission meanwhile.
		if b, again := g.findExisting(ctx, s); again == nil && b != nil {
			return *b, false, nil
		}
	}
	if isConflict(err) {
		return umpire.Batch{}, false, umpire.Errorf("batch %q: %w: %w", s.Batch, err, umpire.ErrState)
	}
	if err != nil {
		return umpire.Batch{}, false, err
	}
	if taken == nil {
		return umpire.Batch{}, true, nil
	}
	g.be.reached("submitted")
	b = *taken
	b.Calls = slices.Clone(b.Calls)
	for i, j := range sub.calls {
		b.Calls[i].Input = json.RawMessage(j.input.Shown)
	}
	return b, true, nil
}

// submit reads the inputs of a submission's outcome, and determines it.
func (t *transaction) submit(sub *submission) (*umpire.Batch, error) {
	if t.session.State == umpire.SessionOver {
		return nil, umpire.Errorf("session %q has ended: %w", t.session.ID, umpire.ErrState)
	}
	if err := t.checkRoom(sub); err != nil {
		return nil, err
	}
	if err := t.deliverPrevious(sub.Lane); err != nil {
		return nil, err
	}
	return t.addBatch(sub)
}

// checkRoom keeps an agent from flooding a person with questions.
func (t *transaction) checkRoom(sub *submission) error {
	limit := cmp.Or(sub.conditions.settings.MaxPending, defaultMaxPending)
	if sub.asking > 0 && t.session.Pending+sub.asking > limit {
		return umpire.Errorf("session %q has %d questions waiting, and %d more would exceed the limit of %d "+
			"(pending.max_per_session): %w",
			t.session.ID, t.session.Pending, sub.asking, limit, umpire.ErrLimit)
	}
	if sub.asking == 0 {
		return nil
	}
	return roomForQuestions(t.tx, t.session.Runner, sub.asking)
}

// deliverPrevious closes the previous batch: an agent that sends a new message must have its
// results.
func (t *transaction) deliverPrevious(lane string) error {
	b, err := t.tx.Batches.GetOpen(t.session.ID, lane)
	if errors.Is(err, umpire.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if b.State != umpire.BatchFinished {
		return umpire.Errorf("batch %q of session %q is %s: %w", b.ID, t.session.ID, b.State, umpire.ErrState)
	}
	return t.deliverBatch(&b)
}

// maxLeftInput is the greatest input that the timeline keeps of a call about which its host asks.
const maxLeftInput = 16 << 10

// leaveToHost records that a call is not submitted.
func (t *transaction) leaveToHost(sub *submission, d umpire.Decision) error {
	if t.session.State == umpire.SessionOver {
		return umpire.Errorf("session %q has ended: %w", t.session.ID, umpire.ErrState)
	}
	d.ReasonCode = umpire.CodeLeftToHost
	t.addHookEvents(sub.Batch, &sub.calls[0].call, sub.calls[0].hooks)
	detail := map[string]json.RawMessage{}
	if input := sub.calls[0].input.Shown; len(input) <= maxLeftInput {
		detail["input"] = json.RawMessage(input)
	}
	t.recordUnstored(umpire.EventPermissionBypassedByRule, sub, d, detail)
	return nil
}

// recordRan records a call that its host ran without asking, or although it was not allowed.
func (t *transaction) recordRan(sub *submission) error {
	call, d := &sub.calls[0].call, sub.calls[0].decision
	last, err := t.tx.Events.GetLast(sub.Session, sub.Batch)
	if errors.Is(err, umpire.ErrNotFound) {
		t.recordUnstored(umpire.EventCallRanUnasked, sub, d, nil)
		return nil
	}
	if err != nil || last.Kind == umpire.EventCallRanUnasked || last.Kind == umpire.EventCallRanRefused {
		return err
	}
	b, err := t.tx.Batches.Get(sub.Session, last.Batch)
	if errors.Is(err, umpire.ErrNotFound) {
		return nil // left to the host
	}
	if err != nil {
		return err
	}
	c := &b.Calls[0]
	if c.Attempt > 0 || c.Verdict == umpire.Allow || c.State == umpire.CallApproved || c.Trial != "" {
		return nil
	}
	sub.Batch, call.ID = b.ID, c.ID
	d.Verdict, d.Reason, d.ReasonCode, d.Rule = c.Verdict, c.Reason, c.Code, nil
	t.recordUnstored(umpire.EventCallRanRefused, sub, d, nil)
	return nil
}

// recordUnstored records a decision about a call that is not stored.
func (t *transaction) recordUnstored(kind umpire.EventKind, sub *submission, d umpire.Decision, detail any) {
	j := *sub.calls[0]
	j.decision = d
	e := t.decisionEvent(kind, &j)
	e.Batch, e.Call, e.Tool, e.Agent = sub.Batch, j.call.ID, j.call.Tool, j.call.Agent
	t.append(e, detail)
}

// admit starts the only call of a batch stored by this transaction.
func (t *transaction) admit(b *umpire.Batch, sub *submission, runner string) (umpire.Started, error) {
	j := sub.calls[0]
	c := b.Next()
	if c == nil || c.State != umpire.CallApproved || b.State != umpire.BatchRunning {
		return umpire.Started{}, nil
	}
	return t.startCall(b, c, &pendingStart{
		Start: &umpire.Start{Session: sub.Session, Batch: sub.Batch, Call: c.ID, Epoch: sub.Epoch, Runner: runner},
		row:   store.CallRow{Agent: j.call.Agent, Effect: j.effect}, judged: j, before: fingerprintFiles(&j.decision),
	})
}
