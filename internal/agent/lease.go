package agent

import (
	"context"
	"errors"
	"time"

	"github.com/umpirehq/umpire"
)

// A runner keeps its session as long as it renews its lease of 30 s. After two thirds of that
// without an answer from the gate, another runner may soon take the session, so the run stops its
// work.
const (
	renewEvery = 10 * time.Second
	renewAgain = time.Second // after an attempt that failed
	killAfter  = 20 * time.Second
)

// errLease ends a call whose runner may have lost the session.
var errLease = errors.New("the session's lease was not renewed in time")

// holdLease renews the lease until ctx ends. If the runner is fenced off, or cannot renew in time,
// it ends the run.
func (r *run) holdLease(ctx context.Context, end context.CancelCauseFunc) {
	clock := r.clock
	if clock == nil {
		clock = wallClock
	}
	renewed := clock()
	for pause := renewEvery; ; {
		sleepFor(ctx, pause)
		if ctx.Err() != nil {
			return
		}
		asked := clock()
		if asked.Sub(renewed) >= killAfter {
			r.endTool(errLease) // the machine slept: stop first, then check the state
		}
		err := r.renew(ctx, max(renewAgain, killAfter-asked.Sub(renewed)))
		switch {
		case err == nil:
			renewed, pause = asked, renewEvery
		case ctx.Err() != nil:
			return
		case isDefinite(err):
			r.endTool(err)
			end(err)
			return
		case clock().Sub(renewed)+renewAgain >= killAfter:
			r.endTool(errLease)
			end(umpire.Errorf("%w: %w", errLease, err))
			return
		default:
			pause = renewAgain
		}
	}
}

// renew asks once, and waits no longer than longest.
func (r *run) renew(ctx context.Context, longest time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	_, err := r.Gate.Sessions().Renew(ctx, r.session.ID, r.session.Epoch)
	return err
}

// wallClock is a clock that continues while the machine sleeps.
func wallClock() time.Time { return time.Now().Round(0) }
