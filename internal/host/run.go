package host

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/umpirehq/umpire"
)

// withdrawTime is how long a call that waits may take to be withdrawn when the
// agent ends the hook.
const withdrawTime = time.Second

// answerQuestion answers one question of the host.
func (h *Host) answerQuestion(p *Responder, ctx context.Context, r *run, q *Question) Output {
	if h.own != nil {
		if foreign, is := errors.AsType[*foreignError](h.checkPayload(q.Payload)); is {
			return h.own.fail("", foreign)
		}
		return h.own.answer(p, ctx, r, q)
	}
	return p.answerHook(ctx, r, q, h)
}

// payloadAbout returns the topic of a payload: the event's name, or a text of the host's own protocol.
func (h *Host) payloadAbout(payload []byte) string {
	if h.own != nil {
		return h.own.about(payload)
	}
	e, _ := h.Read(payload) // the name is set as far as it could be read
	return e.Name
}

// A run is shared by the answering goroutine and the deadline watcher.
type run struct {
	now     func() time.Time
	started time.Time
	given   time.Duration // the deadline as it was given
	payload atomic.Pointer[[]byte]
	limit   atomic.Int64  // the configured deadline, once it is known
	limited chan struct{} // bears one message when it is
	holding atomic.Bool   // a gate may hold the call: ending takes a moment
	away    atomic.Bool   // the gate ends: the question is to be asked again

	// asCame is the decision by which the host runs a call as it came; nil when it does not.
	asCame *umpire.Decision
}

func newRun(now func() time.Time, deadline time.Duration) *run {
	return &run{now: now, started: now(), given: deadline, limited: make(chan struct{}, 1)}
}

// reads keeps the payload once it is known.
func (r *run) reads(payload []byte) { r.payload.Store(&payload) }

// limitTo sets the configured deadline; it is called once at most.
func (r *run) limitTo(deadline time.Duration) {
	r.limit.Store(int64(deadline))
	r.limited <- struct{}{}
}

// deadline is the configured one if it comes before the given one.
func (r *run) deadline() time.Duration {
	if limit := time.Duration(r.limit.Load()); limit > 0 {
		return min(limit, r.given)
	}
	return r.given
}

// left is how much of the deadline is left.
func (r *run) left() time.Duration { return r.deadline() - r.now().Sub(r.started) }

// watch lets the host's question be answered and denies it when no answer comes
// in time. It does not wait for an answer that is late.
func (r *run) watch(ctx context.Context, h *Host, answer func(context.Context) Output) Output {
	// Cancel a late answer: it must not take effect behind the agent's back.
	ctx, end := context.WithCancel(ctx)
	defer end()
	answered := make(chan Output, 1)
	go func() { answered <- r.safely(ctx, h, answer) }()
	timer := time.NewTimer(r.given)
	defer timer.Stop()
	for {
		select {
		case out := <-answered:
			switch {
			case ctx.Err() != nil: // the answer may only be about the connection that this has closed
				return r.fail(h, errInterrupted)
			case r.left() > 0:
				return out
			}
			return r.fail(h, errLate)
		case <-r.limited:
			timer.Reset(r.left())
		case <-timer.C:
			return r.fail(h, errLate)
		case <-ctx.Done():
			if r.holding.Load() {
				waitFor(answered, withdrawTime)
			}
			return r.fail(h, errInterrupted)
		}
	}
}

// waitFor waits briefly for an answer that is no longer needed.
func waitFor(answer <-chan Output, limit time.Duration) {
	select {
	case <-answer:
	case <-time.After(limit):
	}
}

var (
	errLate        = errors.New("no decision before the deadline")
	errInterrupted = errors.New("interrupted")
)

// safely makes a panic a denial. The stack is left out: it would show what the
// call holds.
func (r *run) safely(ctx context.Context, h *Host, answer func(context.Context) Output) (out Output) {
	defer func() {
		if fault := recover(); fault != nil {
			out = r.fail(h, umpire.Errorf("internal error: %v", fault))
		}
	}()
	return answer(ctx)
}

// fail is the answer when there is no decision.
func (r *run) fail(h *Host, problem error) Output {
	about := ""
	if payload := r.payload.Load(); payload != nil {
		about = safeAbout(h, *payload)
	}
	return h.Fail(about, problem)
}

// safeAbout survives a fault in reading the payload: that may be what failed.
func safeAbout(h *Host, payload []byte) (about string) {
	defer func() {
		if recover() != nil {
			about = ""
		}
	}()
	return h.payloadAbout(payload)
}
