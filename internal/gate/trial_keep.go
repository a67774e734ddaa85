package gate

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/process"
	"github.com/umpirehq/umpire/internal/hold/trial"
	"github.com/umpirehq/umpire/internal/store"
)

// The built-in agent keeps its trials' effects itself. Another agent does not wait that long: the
// process that started its command has ended when a person answers, and the agent may have ended
// too. So the gate keeps and discards on its behalf.

// KeepTrial starts a call whose trial is approved, keeps the trial's effects and stores the result.
// If the call may not start any more, KeepTrial leaves it as the batch shows.
func KeepTrial(ctx context.Context, g umpire.Gate, layers Layers, s umpire.Start) (umpire.Batch, error) {
	return keeper{layers, g.Start, g.Trials().Settle, g.Finish}.keep(context.WithoutCancel(ctx), s)
}

// A keeper keeps the effects of approved trials.
type keeper struct {
	layers Layers
	start  func(context.Context, umpire.Start) (umpire.Started, error)
	settle func(context.Context, umpire.TrialSettlement) (umpire.Batch, error)
	finish func(context.Context, umpire.Result) (umpire.Batch, error)
}

// keeper returns the keeper of this machine's layers.
func (ts *trials) keeper() keeper { return keeper{ts.config.Layers, ts.start, ts.Settle, ts.finish} }

func (k keeper) keep(ctx context.Context, s umpire.Start) (umpire.Batch, error) {
	started, err := k.start(ctx, s)
	if err != nil || !started.Go || started.Trial == nil {
		return started.Batch, err
	}
	return k.keepStarted(ctx, &s, started.Trial)
}

// keepStarted keeps the trial of a started call.
func (k keeper) keepStarted(ctx context.Context, s *umpire.Start, tried *umpire.Trial) (umpire.Batch, error) {
	settled, why := k.layers.Keep(ctx, tried.ID, tried.Effects.Digest)
	result := trial.ResultOf(tried, &settled, why)
	settled.Session, settled.Batch, settled.Epoch = s.Session, s.Batch, s.Epoch
	if _, err := k.settle(ctx, settled); err != nil {
		return umpire.Batch{}, err
	}
	result.Session, result.Batch, result.Call, result.Epoch = s.Session, s.Batch, s.Call, s.Epoch
	return k.finish(ctx, result)
}

// keepApproved keeps a batch's approved trial if its layer is on this machine.
func (ts *trials) keepApproved(ctx context.Context, b umpire.Batch, id umpire.TrialID) (umpire.Batch, error) {
	at := slices.IndexFunc(b.Calls, func(c umpire.BatchCall) bool {
		return c.Trial == id && c.TrialState == umpire.TrialWaiting && c.State == umpire.CallApproved
	})
	if at < 0 || !ts.hasLayer(id) {
		return b, nil
	}
	return ts.keeper().keep(context.WithoutCancel(ctx), umpire.Start{
		Session: b.Session, Batch: b.ID, Call: b.Calls[at].ID, Runner: process.NameOf(os.Getpid()),
	})
}

func (ts *trials) hasLayer(id umpire.TrialID) bool {
	if ts.config.Layers == nil {
		return false
	}
	all, err := ts.config.Layers.Waiting()
	return err == nil && slices.Contains(all, id)
}

// settleAnswered applies a person's answer to a trial of an external agent.
func (ts *trials) settleAnswered(ctx context.Context, r *resolution, b umpire.Batch) (umpire.Batch, error) {
	tried := r.card.Trial
	if tried == nil || !r.conditions.session.External {
		return b, nil
	}
	if r.answer.Choice == umpire.Approve {
		return ts.keepApproved(ctx, b, tried.ID)
	}
	return b, ts.dropLayers(ctx)
}

// tend settles trials whose runner is gone, and removes layers that can no longer be kept.
func (ts *trials) tend(ctx context.Context) error {
	open, err := readIn(ctx, ts.view, func(tx *store.Tx) ([]store.TrialRow, error) {
		return tx.Trials.ListOpen()
	})
	errs := []error{err}
	for i := range open {
		errs = append(errs, ignoreGone(ts.tendTrial(ctx, &open[i])))
	}
	return errors.Join(append(errs, ts.dropLayers(ctx))...)
}

// A trialStand is a trial's state with its call and its session.
type trialStand struct {
	row     store.TrialRow
	session umpire.Session
	batch   umpire.Batch
	runner  string // of the call, once started
}

func (ts *trials) findStand(ctx context.Context, row *store.TrialRow) (s trialStand, err error) {
	err = ts.view(ctx, func(tx *store.Tx) error {
		if s.row, err = tx.Trials.Get(row.ID); err != nil {
			return err
		}
		if s.session, err = tx.Sessions.Get(row.Session); err != nil {
			return err
		}
		if s.batch, err = tx.Batches.GetAround(row.Session, row.Batch, row.Call); err != nil {
			return err
		}
		run, err := tx.Executions.GetLast(row.Session, row.Call)
		s.runner = run.Runner
		return ignoreGone(err)
	})
	return s, err
}

// tendTrial settles an open trial whose runner is gone.
func (ts *trials) tendTrial(ctx context.Context, row *store.TrialRow) error {
	if !ts.hasEnded(row.Runner) || row.State == umpire.TrialConflict {
		return nil
	}
	s, err := ts.findStand(ctx, row)
	if err != nil {
		return err
	}
	c := s.batch.Call(row.Call)
	switch {
	case c == nil || c.Trial != row.ID:
	case c.TrialState == umpire.TrialWaiting && c.State == umpire.CallExecuting:
		return ts.finishLost(ctx, &s, c)
	case !s.session.External: // its next runner continues it
	case c.TrialState == umpire.TrialRunning:
		return ts.refuseLost(ctx, row, "the trial was interrupted")
	case c.State == umpire.CallApproved:
		_, err = ts.keepApproved(ctx, s.batch, row.ID)
		return err
	case ts.config.Layers != nil && !ts.hasLayer(row.ID):
		return ts.refuseLost(ctx, row, "the layer of the trial is gone")
	}
	return nil
}

// finishLost finishes a keep whose process has ended, or finds it done.
func (ts *trials) finishLost(ctx context.Context, s *trialStand, c *umpire.BatchCall) (err error) {
	if ts.config.Layers == nil || !ts.hasEnded(s.runner) {
		return nil
	}
	tried := ts.shownTrial(&s.row)
	if tried.Output, err = ts.unseal(trialLabel(s.row.ID, "output"), s.row.Output); err != nil {
		return err
	}
	_, err = ts.keeper().keepStarted(ctx, &umpire.Start{
		Session: s.session.ID, Batch: s.batch.ID, Call: c.ID,
	}, &tried)
	return err
}

// refuseLost ends an external agent's call whose trial failed.
func (ts *trials) refuseLost(ctx context.Context, row *store.TrialRow, why umpire.Phrase) error {
	return ts.step(ctx, row.Session, 0, func(t *transaction) error {
		t.quiet = true
		b, c, err := readCall(t.tx, t.session.ID, row.Batch, row.Call)
		if err != nil {
			return err
		}
		if c.Trial != row.ID || c.TrialState != row.State || c.State != umpire.CallAsked {
			return nil
		}
		if err := t.discardTrial(b, c, why); err != nil {
			return err
		}
		if err := t.refuseQuestion(b, b.Call(row.Call), umpire.CodeCancelled, why); err != nil {
			return err
		}
		return t.continueBatch(b)
	})
}

// dropLayers removes the layers of settled trials.
func (ts *trials) dropLayers(ctx context.Context) error {
	if ts.config.Layers == nil {
		return nil
	}
	all, err := ts.config.Layers.Waiting()
	errs := []error{err}
	for _, id := range all {
		row, err := readIn(ctx, ts.view, func(tx *store.Tx) (store.TrialRow, error) {
			return tx.Trials.Get(id)
		})
		if row.State == umpire.TrialDiscarded || row.State == umpire.TrialKept {
			err = ts.config.Layers.Discard(id)
		}
		errs = append(errs, ignoreGone(err))
	}
	return errors.Join(errs...)
}
