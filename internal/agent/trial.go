package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/trial"
)

// A trier is a set of tools that can try a call before a person is asked.
type trier interface {
	// Try runs a call in a layer, without real effects. The layer then waits. After an error it
	// does not exist.
	Try(ctx context.Context, begun umpire.BegunTrial) (umpire.TrialReport, error)
	// KeepTrial makes the layer real for a started call, and reports the outcome.
	KeepTrial(ctx context.Context, started umpire.Started) (umpire.TrialSettlement, error)
	// DiscardTrial removes a layer, if it exists.
	DiscardTrial(id umpire.TrialID) error
}

// trials are a run's trials. They are forgotten when the process ends.
type trials struct {
	*run

	wanted    chan umpire.RequestID            // wanted by a person; holds one
	attempted map[umpire.RequestID]bool        // questions that a trial was started for
	layers    map[umpire.CallID]umpire.TrialID // the layers that trials of calls left to keep or discard
}

func newTrials(r *run) *trials {
	return &trials{
		run: r, wanted: make(chan umpire.RequestID, 1), attempted: map[umpire.RequestID]bool{},
		layers: map[umpire.CallID]umpire.TrialID{},
	}
}

// offer returns the trial that a question could get now. It returns NoTrial if the call is not the
// next one of its batch, was tried, or cannot be tried here.
func (t *trials) offer(b *umpire.Batch, p *umpire.Pending) umpire.TrialOffer {
	next := b.Next()
	if t.Sandbox == nil || !t.Sandbox.Trials || next == nil || next.ID != p.Call || next.State != umpire.CallAsked ||
		next.Trial != "" || t.attempted[p.Request] {
		return umpire.NoTrial
	}
	return p.TrialOffer
}

// pending returns the questions of the session, the oldest first; a limit of 0 means all.
func (r *run) pending(ctx context.Context, limit int) ([]umpire.Pending, error) {
	return retryPatiently(ctx, func() ([]umpire.Pending, error) {
		return r.Gate.Pending(ctx, umpire.PendingQuery{Session: r.session.ID, Limit: limit})
	})
}

// tryFirst tries the next call of a waiting batch, if it must be tried before asking. It reports
// whether it did.
func (t *trials) tryFirst(ctx context.Context, b umpire.Batch) (after umpire.Batch, tried bool, err error) {
	if next := b.Next(); t.Sandbox == nil || !t.Sandbox.Trials || next == nil || next.State != umpire.CallAsked {
		return b, false, nil
	}
	list, err := t.pending(ctx, 0)
	if err != nil {
		return b, false, err
	}
	for i := range list {
		if list[i].Batch == b.ID && t.offer(&b, &list[i]) == umpire.TrialFirst {
			after, err = t.try(ctx, b, &list[i])
			return after, true, err
		}
	}
	return b, false, nil
}

// tryWanted tries the call of a question at a person's request.
func (t *trials) tryWanted(ctx context.Context, b umpire.Batch, request umpire.RequestID) (umpire.Batch, error) {
	list, err := t.pending(ctx, 0)
	if err != nil {
		return b, err
	}
	for i := range list {
		if list[i].Request == request && list[i].Batch == b.ID && t.offer(&b, &list[i]) != umpire.NoTrial {
			return t.try(ctx, b, &list[i])
		}
	}
	return b, nil
}

// try tries the call of a question, and reports its effects. If no trial is possible, the question
// stays unchanged.
func (t *trials) try(ctx context.Context, b umpire.Batch, p *umpire.Pending) (umpire.Batch, error) {
	t.attempted[p.Request] = true
	begun, err := t.Gate.Trials().Begin(ctx, umpire.TrialRequest{
		Session: t.session.ID, Batch: b.ID, Call: p.Call, Epoch: t.session.Epoch, Runner: t.Runner, Sandbox: t.Sandbox,
	})
	if errors.Is(err, umpire.ErrState) || errors.Is(err, umpire.ErrLimit) {
		return t.batch(ctx, b.ID)
	}
	if err != nil {
		return b, umpire.Errorf("try call %q: %w", p.Call, err)
	}
	report, err := t.runTrial(ctx, begun)
	if err != nil {
		return t.giveUpTrial(ctx, begun, err)
	}
	report.Session, report.Batch, report.Epoch, report.Sandbox = t.session.ID, b.ID, t.session.Epoch, t.Sandbox
	t.layers[p.Call] = begun.Trial
	store, done := outlastingContext(ctx)
	defer done()
	b, err = retryPatiently(store, func() (umpire.Batch, error) { return t.Gate.Trials().Report(store, report) })
	if err != nil {
		return b, umpire.Errorf("report the trial of call %q: %w", p.Call, err)
	}
	t.dropLayers(&b)
	if ctx.Err() != nil {
		return b, context.Cause(ctx)
	}
	return b, nil
}

// errAnswered ends a trial whose call was answered meanwhile.
var errAnswered = errors.New("the call was answered")

// runTrial runs the command of a trial, in a context that also ends when the lease is in danger or
// somebody answers.
func (t *trials) runTrial(ctx context.Context, begun umpire.BegunTrial) (umpire.TrialReport, error) {
	trier := trierOf(t.tools, begun.Call.Tool)
	if trier == nil {
		return umpire.TrialReport{}, trial.ErrUnavailable
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	t.stopTool.Store(&stop)
	defer t.stopTool.Store(nil)
	watching, end := context.WithCancel(ctx)
	var watched sync.WaitGroup
	watched.Go(func() { t.watchTrial(watching, begun, stop) })
	defer watched.Wait()
	defer end()
	return trier.Try(ctx, begun)
}

// watchTrial stops a trial once the call no longer shows it.
func (t *trials) watchTrial(ctx context.Context, begun umpire.BegunTrial, stop context.CancelCauseFunc) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.bell:
		}
		b, err := t.Gate.Batch(ctx, t.session.ID, begun.Batch.ID)
		if err != nil {
			continue
		}
		if c := b.Call(begun.Call.ID); c == nil || c.Trial != begun.Trial || c.State != umpire.CallAsked {
			stop(errAnswered)
		}
	}
}

// giveUpTrial reports that a trial failed. If no trial is possible, no other one is begun. A trial
// that ends with the run is left to the next run.
func (t *trials) giveUpTrial(ctx context.Context, begun umpire.BegunTrial, why error) (umpire.Batch, error) {
	if ctx.Err() != nil {
		return begun.Batch, context.Cause(ctx)
	}
	if errors.Is(why, trial.ErrUnavailable) {
		confinement := *t.Sandbox
		confinement.Trials = false
		t.Sandbox = &confinement
	}
	store, done := outlastingContext(ctx)
	defer done()
	return t.settleTrial(store, begun.Batch.ID, umpire.TrialSettlement{
		Trial: begun.Trial, State: umpire.TrialDiscarded, Reason: why.Error(),
	})
}

func (t *trials) settleTrial(
	ctx context.Context, b umpire.BatchID, s umpire.TrialSettlement,
) (after umpire.Batch, err error) {
	s.Session, s.Batch, s.Epoch, s.Sandbox = t.session.ID, b, t.session.Epoch, t.Sandbox
	after, err = retryPatiently(ctx, func() (umpire.Batch, error) { return t.Gate.Trials().Settle(ctx, s) })
	if err != nil {
		err = umpire.Errorf("settle trial %q: %w", s.Trial, err)
	}
	return after, err
}

// keepTrial makes the effects of a started call's trial real, and returns the result of the call:
// the trial's output.
func (t *trials) keepTrial(ctx context.Context, b umpire.BatchID, started umpire.Started) (umpire.Result, error) {
	ctx, done := outlastingContext(ctx)
	defer done()
	settled, err := umpire.TrialSettlement{State: umpire.TrialDiscarded}, trial.ErrUnavailable
	if trier := trierOf(t.tools, started.Call.Tool); trier != nil {
		settled, err = trier.KeepTrial(ctx, started)
	}
	settled.Trial = started.Trial.ID
	result := trial.ResultOf(started.Trial, &settled, err)
	if settled.State != umpire.TrialDiscarded {
		delete(t.layers, started.Call.ID) // a conflict waits for a person
	}
	_, err = t.settleTrial(ctx, b, settled)
	return result, err
}

// dropLayers removes the layers of calls that no longer show a trial.
func (t *trials) dropLayers(b *umpire.Batch) {
	for call, id := range t.layers {
		c := b.Call(call)
		if c == nil || c.Trial != "" {
			continue
		}
		delete(t.layers, call)
		if trier := trierOf(t.tools, c.Tool); trier != nil {
			if err := trier.DiscardTrial(id); err != nil {
				t.notify(func(h Handler) { h.Output(call, fmt.Sprintf("[%s]\n", strings.TrimSpace(err.Error()))) })
			}
		}
	}
}
