package host

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/umpirehq/umpire"
)

const (
	// claudeTimeout is how long Claude Code waits for a hook when the settings name
	// no time limit.
	claudeTimeout = 600 * time.Second
	// margin is how long before the agent's time limit umpire says no by itself: a
	// busy machine needs time to start a process and to end one.
	margin = 5 * time.Second
	// withdrawTime is how long a call that waits may take to be withdrawn when the
	// agent ends the hook.
	withdrawTime = time.Second
)

// An agent is one whose questions are answered.
type agent struct {
	name     string
	deadline time.Duration
	answer   func(*Responder, context.Context, *run, *Question) Output
	// fail is the answer when there is no decision. About is what the payload said
	// before things went wrong: the event, or the tool.
	fail  func(about string, problem error) Output
	about func(payload []byte) string
	// relayed says that a gate that runs is asked; the others name no session.
	relayed bool
}

// agents are all of them.
var agents = []agent{
	{"claude", claudeTimeout - margin, (*Responder).claude, FailClaude, aboutClaude, true},
	{"muse", claudeTimeout - margin, (*Responder).muse, FailMuse, aboutMuse, false},
}

// Agents are the names of those whose questions are answered.
func Agents() []string {
	var names []string
	for i := range agents {
		names = append(names, agents[i].name)
	}
	return names
}

func agentOf(name string) *agent {
	for i := range agents {
		if agents[i].name == name {
			return &agents[i]
		}
	}
	return nil
}

// A run is what the one who answers tells the one who watches.
type run struct {
	now     func() time.Time
	started time.Time
	given   time.Duration // the deadline as it was given
	payload atomic.Pointer[[]byte]
	limit   atomic.Int64  // the configured deadline, once it is known
	limited chan struct{} // bears one message when it is
	holding atomic.Bool   // a gate may hold the call: ending takes a moment
	away    atomic.Bool   // the gate ends: the question is to be asked again
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

// watch lets the agent's question be answered and denies it when no answer comes
// in time. It does not wait for an answer that is late.
func (r *run) watch(ctx context.Context, a *agent, answer func(context.Context) Output) Output {
	// What is late is to end, and not to be answered behind the agent's back.
	ctx, end := context.WithCancel(ctx)
	defer end()
	answered := make(chan Output, 1)
	go func() { answered <- r.safely(ctx, a, answer) }()
	timer := time.NewTimer(r.given)
	defer timer.Stop()
	for {
		select {
		case out := <-answered:
			if r.left() > 0 {
				return out
			}
			return r.fail(a, errLate)
		case <-r.limited:
			timer.Reset(r.left())
		case <-timer.C:
			return r.fail(a, errLate)
		case <-ctx.Done():
			if r.holding.Load() {
				waitFor(answered, withdrawTime)
			}
			return r.fail(a, errors.New("interrupted"))
		}
	}
}

// waitFor waits for an answer that nobody needs any more, but not for long.
func waitFor(answer <-chan Output, limit time.Duration) {
	select {
	case <-answer:
	case <-time.After(limit):
	}
}

var errLate = errors.New("no decision before the deadline")

// safely makes a panic a denial. The stack is left out: it would show what the
// call holds.
func (r *run) safely(ctx context.Context, a *agent, answer func(context.Context) Output) (out Output) {
	defer func() {
		if fault := recover(); fault != nil {
			out = r.fail(a, umpire.Errorf("internal error: %v", fault))
		}
	}()
	return answer(ctx)
}

// fail is the answer when there is no decision.
func (r *run) fail(a *agent, problem error) Output {
	about := ""
	if payload := r.payload.Load(); payload != nil {
		about = safeAbout(a, *payload)
	}
	return a.fail(about, problem)
}

// safeAbout survives a fault in reading the payload: that may be what failed.
func safeAbout(a *agent, payload []byte) (about string) {
	defer func() {
		if recover() != nil {
			about = ""
		}
	}()
	return a.about(payload)
}
