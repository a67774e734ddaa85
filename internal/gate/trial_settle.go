package gate

import (
	"context"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/batch"
	"github.com/umpirehq/umpire/internal/store"
)

// Settle records the outcome of a trial's effects. Repeating it is not an error.
func (ts *trials) Settle(ctx context.Context, s umpire.TrialSettlement) (b umpire.Batch, err error) {
	switch {
	case s.Record != nil:
		return umpire.Batch{}, ts.reportRecord(ctx, &s)
	case s.Session == "" || s.Batch == "" || s.Trial == "":
		return umpire.Batch{}, invalid("session_id, batch_id, trial_id", "all are needed")
	case s.State != umpire.TrialKept && s.State != umpire.TrialDiscarded && s.State != umpire.TrialConflict:
		return umpire.Batch{}, invalid("state", "want kept, discarded or conflict, got %q", s.State)
	case len(s.Reason) > maxReason:
		return umpire.Batch{}, invalid("reason", "longer than %d bytes", maxReason)
	}
	if err := checkConfinement(s.Sandbox); err != nil {
		return umpire.Batch{}, err
	}
	row, err := ts.readTrial(ctx, s.Session, s.Batch, s.Trial)
	if err != nil {
		return umpire.Batch{}, err
	}
	if s.State == umpire.TrialKept && s.Digest != row.Layer {
		return umpire.Batch{}, umpire.Errorf("digest is not that of trial %q: %w", s.Trial, umpire.ErrChanged)
	}
	var anew *pendingTrial
	if s.State == umpire.TrialDiscarded {
		if anew, err = ts.prepareWithoutTrial(ctx, &s, row.Call); err != nil {
			return umpire.Batch{}, err
		}
	}
	ts.reached("kept")
	err = ts.step(ctx, s.Session, s.Epoch, func(t *transaction) error {
		b, err = t.decideSettlement(&s, &row, anew)
		return err
	})
	if isConflict(err) {
		err = umpire.Errorf("trial %q: %w: %w", s.Trial, err, umpire.ErrState)
	}
	if err != nil {
		return umpire.Batch{}, err
	}
	ts.reached("settled")
	return b, nil
}

// prepareWithoutTrial builds the question about a call whose trial is discarded: whether it may
// run.
func (ts *trials) prepareWithoutTrial(
	ctx context.Context, s *umpire.TrialSettlement, call umpire.CallID,
) (*pendingTrial, error) {
	p, err := ts.judgeTried(ctx, s.Session, s.Batch, call, s.Sandbox)
	if err != nil {
		return nil, err
	}
	p.judged.question = ts.newQuestion(p.conditions, p.judged, s.Batch, p.position, p.total)
	p.judged.question.card.TrialOffer = umpire.NoTrial // it was tried
	return p, nil
}

// decideSettlement stores the outcome of the effects. A question that shows the effects is replaced
// by one that does not.
func (t *transaction) decideSettlement(
	s *umpire.TrialSettlement, row *store.TrialRow, anew *pendingTrial,
) (umpire.Batch, error) {
	b, c, err := readCall(t.tx, t.session.ID, s.Batch, row.Call)
	if err != nil {
		return umpire.Batch{}, err
	}
	switch {
	case c.Trial != s.Trial && row.State == s.State, c.Trial == s.Trial && c.TrialState == s.State:
		return *b, nil // already recorded
	case c.Trial != s.Trial:
		return umpire.Batch{}, umpire.Errorf("trial %q is %s: %w", s.Trial, row.State, umpire.ErrState)
	case s.State == umpire.TrialDiscarded:
		err = t.discardAndAsk(b, c, s, anew)
	case s.State == umpire.TrialConflict:
		err = t.apply(b, umpire.Event{Kind: umpire.EventEffectsConflicted, Call: c.ID, Tool: c.Tool},
			batch.Tried{Trial: s.Trial, Digest: row.Layer, Paths: s.Paths[:min(len(s.Paths), maxListedPaths)]})
	default:
		err = t.keepTrial(b, c, row.Layer)
	}
	if err != nil {
		return umpire.Batch{}, err
	}
	err = t.continueBatch(b)
	return *b, err
}

// discardAndAsk discards the effects of a trial. A question about the call is asked again without
// the trial, or refused if the session is unattended.
func (t *transaction) discardAndAsk(
	b *umpire.Batch, c *umpire.BatchCall, s *umpire.TrialSettlement, anew *pendingTrial,
) error {
	if err := t.discardTrial(b, c, umpire.Verbatim(s.Reason)); err != nil || c.State != umpire.CallAsked {
		return err
	}
	if c.Request != anew.seen.Request {
		return umpire.Errorf("call %q has a new question: %w", c.ID, umpire.ErrState)
	}
	if anew.judged.unasked {
		d := &anew.judged.decision
		return t.refuseQuestion(b, b.Call(c.ID), umpire.CodeAutoDeny, d.Reason)
	}
	return t.replaceAsked(b, c.ID, anew.judged)
}
