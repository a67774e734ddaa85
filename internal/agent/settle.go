package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// finishTime is the time for storing results after the run was asked to end.
const finishTime = 5 * time.Second

// settle finishes a batch: it waits while a person is asked, and runs the calls in order while the
// gate allows it. It returns early if a question is waiting that cannot be answered.
func (r *run) settle(ctx context.Context, id umpire.BatchID) (umpire.Batch, error) {
	b, err := r.batch(ctx, id)
	for err == nil {
		if b.Total > 0 && b.State != umpire.BatchRunning { // others may have ended calls that no answer showed
			if b, err = r.batch(ctx, id); err != nil {
				return b, err
			}
		}
		r.reportEnded(&b)
		switch b.State {
		case umpire.BatchFinished, umpire.BatchDelivered:
			return b, nil
		case umpire.BatchWaiting:
			var tried bool
			if b, tried, err = r.trials.tryFirst(ctx, b); tried || err != nil {
				continue
			}
			if r.session.Headless {
				r.outcome.Waiting = b.Waiting()
				return b, nil
			}
			b, err = r.await(ctx, b)
		case umpire.BatchRunning:
			b, err = r.runNextCall(ctx, b)
			if r.outcome.Waiting > 0 {
				return b, err // in a sub-agent
			}
		default:
			err = umpire.Errorf("batch %q: unknown state %q", id, b.State)
		}
	}
	return b, err
}

func (r *run) batch(ctx context.Context, id umpire.BatchID) (umpire.Batch, error) {
	return retryPatiently(ctx, func() (umpire.Batch, error) { return r.Gate.Batch(ctx, r.session.ID, id) })
}

// runNextCall runs the first call without a result, if the gate allows it.
func (r *run) runNextCall(ctx context.Context, b umpire.Batch) (umpire.Batch, error) {
	if ctx.Err() != nil {
		return b, context.Cause(ctx)
	}
	c := b.Next()
	if c == nil {
		return b, umpire.Errorf("batch %q is running, but has no call left to run: %w", b.ID, umpire.ErrState)
	}
	if r.cancelled {
		return r.storeResult(ctx, b, c.ID, umpire.Result{
			Status: umpire.ResultCancelled, Output: "[Interrupted] The call was not run: the user stopped the turn.",
		})
	}
	started, err := r.startCall(ctx, b.ID, c.ID)
	if err != nil {
		return b, umpire.Errorf("start call %q: %w", c.ID, err)
	}
	if started.Go {
		return r.execute(ctx, b, started)
	}
	if left := started.Batch.Next(); started.Batch.State == umpire.BatchRunning && left != nil && left.ID == c.ID &&
		left.State == c.State {
		return b, umpire.Errorf("call %q cannot start, because it is %s: %w", c.ID, c.State, umpire.ErrState)
	}
	return started.Batch, nil
}

// startCall asks the gate to start a call. It is never interrupted: if it were unclear whether a
// call has started, a person would have to answer.
func (r *run) startCall(ctx context.Context, b umpire.BatchID, c umpire.CallID) (umpire.Started, error) {
	ctx, done := outlastingContext(ctx)
	defer done()
	return r.Gate.Start(ctx, umpire.Start{
		Session: r.session.ID, Batch: b, Call: c, Epoch: r.session.Epoch, Runner: r.Runner, Sandbox: r.Sandbox,
	})
}

// outlastingContext returns a context that ends a while after ctx.
func outlastingContext(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		sleepFor(longer, finishTime)
		cancel()
	})
	return longer, func() { stop(); cancel() }
}

// execute runs a call that the gate has started, and stores its result, even if the run is ending:
// the outcome must not be in doubt.
func (r *run) execute(ctx context.Context, b umpire.Batch, started umpire.Started) (umpire.Batch, error) {
	if started.Trial != nil {
		result, err := r.trials.keepTrial(ctx, b.ID, started)
		if err != nil {
			return b, err
		}
		return r.storeResult(ctx, b, started.Call.ID, result)
	}
	result := r.runTool(ctx, started)
	if r.leavesOpen(ctx, started, result) {
		return b, context.Cause(ctx)
	}
	after, err := r.storeResult(ctx, b, started.Call.ID, result)
	if err != nil {
		return after, err
	}
	if r.tasks != nil {
		r.tasks.endSession(ctx)
	}
	if ctx.Err() != nil {
		return after, context.Cause(ctx)
	}
	return after, nil
}

// leavesOpen reports whether a call is left unfinished: the parent's next run resumes an unfinished
// sub-agent.
func (r *run) leavesOpen(ctx context.Context, started umpire.Started, result umpire.Result) bool {
	if r.tasks == nil || started.Call.Tool != taskTool || result.Status == umpire.ResultOK {
		return false
	}
	return r.outcome.Waiting > 0 || ctx.Err() != nil && r.Sub.Leave
}

// storeResult stores the result of a call.
func (r *run) storeResult(
	ctx context.Context, b umpire.Batch, call umpire.CallID, result umpire.Result,
) (umpire.Batch, error) {
	result.Session, result.Batch, result.Call, result.Epoch = r.session.ID, b.ID, call, r.session.Epoch
	store, done := outlastingContext(ctx)
	defer done()
	after, err := retryPatiently(store, func() (umpire.Batch, error) { return r.Gate.Finish(store, result) })
	if err != nil {
		return b, umpire.Errorf("store the result of call %q: %w", call, err)
	}
	r.countEnd(after.Call(call), result)
	return after, nil
}

// runTool runs the tool, in a context that also ends when the lease is in danger.
func (r *run) runTool(ctx context.Context, started umpire.Started) umpire.Result {
	if ctx.Err() != nil {
		return umpire.Result{
			Status: umpire.ResultCancelled, Output: "[Interrupted] The call was not run: the agent was ended.",
		}
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r.stopTool.Store(&stop)
	result := r.tools.Run(ctx, started)
	r.stopTool.Store(nil)
	if cause := context.Cause(ctx); cause != nil && result.Status != umpire.ResultOK {
		result.Status = umpire.ResultCancelled
		why := "" // a stopped turn needs no explanation
		if !errors.Is(cause, context.Canceled) {
			why = fmt.Sprintf(" (%v)", cause)
		}
		result.Output = fmt.Sprintf(
			"[Interrupted] The call was ended before it was done%s.\n%s", why,
			strings.TrimPrefix(result.Output, context.Canceled.Error()+"\n"),
		)
	}
	return result
}

// endTool ends the running call and background work.
func (r *run) endTool(cause error) {
	if stop := r.stopTool.Load(); stop != nil {
		(*stop)(cause)
	}
	r.tools.Stop()
}

// reportEnded reports newly ended calls to the handler.
func (r *run) reportEnded(b *umpire.Batch) {
	for i := range b.Calls {
		if c := &b.Calls[i]; c.State == umpire.CallDone && c.Result != nil {
			r.countEnd(c, *c.Result)
		}
	}
	r.trials.dropLayers(b)
}

// countEnd counts the end of a call, once.
func (r *run) countEnd(c *umpire.BatchCall, result umpire.Result) {
	if c == nil || r.reported[c.ID] {
		return
	}
	r.reported[c.ID] = true
	switch {
	case result.Code == umpire.CodeAutoDeny && c.Reason.Is(policy.NobodyConfirms):
		r.outcome.Unattended++
	case result.Code == umpire.CodeTimeout:
		r.outcome.Late++
	}
	call := *c
	r.notify(func(h Handler) { h.Ended(call, result) })
}

// pollEvery is how often a waiting batch is checked without news.
const pollEvery = 2 * time.Second

// await waits until no call of a batch waits, and asks a person meanwhile.
func (r *run) await(ctx context.Context, b umpire.Batch) (umpire.Batch, error) {
	asker := &asker{ask: r.Ask, failed: make(chan error, 1)}
	defer asker.stop()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	told := 0
	for waiting := b.Waiting(); ; {
		if waiting != told {
			told = waiting
			r.notify(func(h Handler) { h.Waiting(told) })
		}
		if err := r.showQuestion(ctx, &b, asker); err != nil {
			return b, err
		}
		select {
		case <-ctx.Done():
			return b, context.Cause(ctx)
		case err := <-asker.failed:
			return b, err
		case request := <-r.trials.wanted:
			asker.stop()
			return r.trials.tryWanted(ctx, b, request)
		case <-r.bell:
			// An approval leaves one call fewer, and shows that without the others.
			left, err := r.countWaiting(ctx)
			if err == nil && left > 0 && !r.callEnded.Swap(false) {
				waiting = left
				continue
			}
		case <-poll.C:
		}
		var err error
		if b, err = r.batch(ctx, b.ID); err != nil || b.State != umpire.BatchWaiting {
			return b, err
		}
		waiting = b.Waiting()
		r.reportEnded(&b)
	}
}

// countWaiting returns how many calls of the session wait.
func (r *run) countWaiting(ctx context.Context) (int, error) {
	s, err := retryPatiently(ctx, func() (umpire.Session, error) { return r.Gate.Sessions().Get(ctx, r.session.ID) })
	return s.Pending, err
}

// showQuestion asks the first waiting question, and no other.
func (r *run) showQuestion(ctx context.Context, b *umpire.Batch, a *asker) error {
	if a.ask == nil {
		return nil
	}
	list, err := r.pending(ctx, 1)
	if err != nil {
		return err
	}
	if len(list) > 0 && list[0].Request == a.request {
		return nil // it is already being asked
	}
	a.stop()
	if len(list) > 0 {
		list[0].TrialOffer = r.trials.offer(b, &list[0])
		a.startAsking(ctx, list[0])
	}
	return nil
}

// An asker asks a person, one question at a time.
type asker struct {
	ask    func(context.Context, umpire.Pending) error
	failed chan error

	request umpire.RequestID
	cancel  context.CancelFunc
	done    chan struct{}
}

func (a *asker) startAsking(ctx context.Context, p umpire.Pending) {
	ctx, a.cancel = context.WithCancel(ctx)
	a.request, a.done = p.Request, make(chan struct{})
	go func(done chan struct{}) {
		defer close(done)
		err := a.ask(ctx, p)
		if err == nil || ctx.Err() != nil || errors.Is(err, umpire.ErrResolved) {
			return
		}
		select {
		case a.failed <- err:
		default:
		}
	}(a.done)
}

// stop withdraws the current question, and waits for that.
func (a *asker) stop() {
	if a.cancel == nil {
		return
	}
	a.cancel()
	<-a.done
	a.request, a.cancel = "", nil
}
