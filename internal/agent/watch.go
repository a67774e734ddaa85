package agent

import (
	"context"
	"errors"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/llm"
)

// errEnded ends a run whose session was ended by a person.
var errEnded = errors.New("the session was ended")

// watch follows the session's events and rings the bell for each. After the gate was away it
// continues from the last event.
func (r *run) watch(ctx context.Context, end context.CancelCauseFunc) {
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, longestPause) {
		for e, err := range r.Gate.Watch(ctx, umpire.Filter{Session: r.session.ID, After: r.lastSeq()}) {
			if err != nil {
				break
			}
			pause = firstPause
			r.passEvent(e)
			if e.Kind == umpire.EventSessionEnded {
				end(errEnded)
			}
		}
		sleepFor(ctx, pause)
	}
}

// lastSeq returns the number of the last event passed on.
func (r *run) lastSeq() int64 {
	r.handlerMu.Lock()
	defer r.handlerMu.Unlock()
	return r.cursor
}

// passEvent passes an event on to the handler, once.
func (r *run) passEvent(e umpire.Event) {
	r.handlerMu.Lock()
	if e.Seq > r.cursor {
		r.cursor = e.Seq
		r.handler.Event(e)
		if e.Kind == umpire.EventTrialWanted {
			select {
			case r.trials.wanted <- e.Request:
			default: // one is already wanted
			}
		}
	}
	r.handlerMu.Unlock()
	if e.Kind == umpire.EventCallFinished {
		r.callEnded.Store(true)
	}
	select {
	case r.bell <- struct{}{}:
	default: // it is already ringing
	}
}

// notify calls the handler, one call at a time.
func (r *run) notify(f func(Handler)) {
	r.handlerMu.Lock()
	defer r.handlerMu.Unlock()
	f(r.handler)
}

// saying passes on a piece of an incoming reply.
func (r *run) saying(piece llm.Delta) { r.notify(func(h Handler) { h.Saying(piece) }) }

// passRemaining passes on the remaining events that were stored before the run ended.
func (r *run) passRemaining(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTime)
	defer cancel()
	events, err := r.Gate.Events(ctx, umpire.Filter{Session: r.session.ID, After: r.lastSeq()})
	if err != nil {
		return // the events are stored; only this run does not pass them on
	}
	for _, e := range events {
		r.passEvent(e)
	}
}

// Pauses between attempts to reach a gate that is away.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 2 * time.Second
	// patience is how long a gate may be away. It is shorter than the lease.
	patience = 20 * time.Second
)

// retryPatiently repeats an idempotent operation until it succeeds, is refused, or patience has
// passed.
func retryPatiently[T any](ctx context.Context, do func() (T, error)) (T, error) {
	began := time.Now()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		out, err := do()
		if err == nil || isDefinite(err) || ctx.Err() != nil || time.Since(began)+pause > patience {
			return out, err
		}
		sleepFor(ctx, pause)
	}
}

// isDefinite reports whether an error would be the same next time.
func isDefinite(err error) bool {
	for _, known := range []error{
		umpire.ErrNotFound, umpire.ErrInvalid, umpire.ErrResolved, umpire.ErrState, umpire.ErrFenced,
		umpire.ErrOtherProject, umpire.ErrLimit,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

func sleepFor(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
