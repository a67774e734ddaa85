package host

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/umpirehq/umpire"
)

// withdrawTime bounds the withdrawal of a waiting call when the agent ends the hook.
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
	limit   atomic.Int64  // the configured deadline, once known
	limited chan struct{} // receives one message once limit is set
	holding atomic.Bool   // a gate may hold the call: ending takes a moment
	away    atomic.Bool   // the gate shuts down: the question must be asked again

	// observes says that umpire only observes, once the configuration has been read.
	observes atomic.Pointer[bool]

	// asCame is the decision by which the host runs a call unchanged, or nil.
	asCame *umpire.Decision
}

func newRun(now func() time.Time, deadline time.Duration) *run {
	return &run{now: now, started: now(), given: deadline, limited: make(chan struct{}, 1)}
}

// reads stores the payload once it is known.
func (r *run) reads(payload []byte) { r.payload.Store(&payload) }

// limitTo sets the configured deadline; it is called at most once.
func (r *run) limitTo(deadline time.Duration) {
	r.limit.Store(int64(deadline))
	r.limited <- struct{}{}
}

// deadline returns the earlier of the configured and the given deadline.
func (r *run) deadline() time.Duration {
	if limit := time.Duration(r.limit.Load()); limit > 0 {
		return min(limit, r.given)
	}
	return r.given
}

// left returns the rest of the deadline.
func (r *run) left() time.Duration { return r.deadline() - r.now().Sub(r.started) }

// watch waits for the answer to the host's question, and denies it if none comes in time. It does
// not wait for a late answer.
func (r *run) watch(ctx context.Context, h *Host, answer func(context.Context) Output) Output {
	// Cancel a late answer: it must not take effect behind the agent's back.
	ctx, end := context.WithCancel(ctx)
	defer end()
	answered := make(chan Output, 1)
	go func() {
		growStack(0)
		answered <- r.safely(ctx, h, answer)
	}()
	timer := time.NewTimer(r.given)
	defer timer.Stop()
	for {
		select {
		case out := <-answered:
			switch {
			case ctx.Err() != nil: // the answer may only be about the connection closed by this
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

// usualStack is the stack in bytes that most answers stay below.
const usualStack = 28 << 10

// growStack makes room for an answer. A goroutine begins with a small stack, which is copied each time that it
// doubles.
//
//go:noinline
func growStack(at int) byte {
	var room [usualStack]byte
	return room[at]
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

// safely turns a panic into a denial. It omits the stack, which would reveal the call's contents.
func (r *run) safely(ctx context.Context, h *Host, answer func(context.Context) Output) (out Output) {
	defer func() {
		if fault := recover(); fault != nil {
			out = r.fail(h, umpire.Errorf("internal error: %v", fault))
		}
	}()
	return answer(ctx)
}

// fail returns the answer without a decision.
func (r *run) fail(h *Host, problem error) Output {
	about := ""
	if payload := r.payload.Load(); payload != nil {
		about = safeAbout(h, *payload)
	}
	return h.Fail(about, problem)
}

// withhold returns an answer without an opinion in place of one that could stop a call.
func (r *run) withhold(h *Host, out Output) Output {
	if h.own != nil {
		return Output{Stdout: []byte(h.own.quiet), Stderr: out.Stderr}
	}
	e := Event{Host: h}
	if payload := r.payload.Load(); payload != nil {
		e.Name = safeAbout(h, *payload)
	}
	if row, known := h.Event(e.Name); known {
		e.Kind = row.Kind
	}
	quiet := e.silence()
	quiet.Stderr = out.Stderr
	return quiet
}

// safeAbout survives a panic while reading the payload: the payload may have caused the first one.
func safeAbout(h *Host, payload []byte) (about string) {
	defer func() {
		if recover() != nil {
			about = ""
		}
	}()
	return h.payloadAbout(payload)
}
