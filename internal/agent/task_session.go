package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/umpirehq/umpire"
)

// childID derives the session of a sub-agent from the call that started it. If the call is started
// again, it finds the session.
func childID(parent umpire.SessionID, call umpire.CallID) umpire.SessionID {
	sum := sha256.Sum256([]byte(call))
	return parent + "-" + umpire.SessionID(hex.EncodeToString(sum[:6]))
}

// openSession opens the session of a sub-agent, or takes over the one left by an earlier run. It
// then returns that session's last event.
func (t *tasks) openSession(
	ctx context.Context, call *umpire.Call, a *assignment,
) (s umpire.Session, lastSeq int64, err error) {
	r := t.run
	id := childID(r.session.ID, call.ID)
	s, err = retryPatiently(ctx, func() (umpire.Session, error) {
		return r.Gate.Sessions().Open(ctx, umpire.Opening{
			ID: id, Dir: r.session.Dir, Agent: r.session.Agent, Profile: a.Profile, Parent: r.session.ID,
			Headless: r.session.Headless, Runner: r.Runner,
		})
	})
	if !errors.Is(err, umpire.ErrState) {
		return s, 0, err
	}
	existing, lookErr := r.Gate.Sessions().Get(ctx, id)
	if lookErr != nil {
		return s, 0, err
	}
	if existing.Runner == r.Runner && r.Runner != "" {
		return existing, 0, nil // it was opened just now, and only the answer was lost
	}
	events, err := r.Gate.Events(ctx, umpire.Filter{Session: id})
	if err != nil {
		return s, 0, err
	}
	if len(events) > 0 {
		lastSeq = events[len(events)-1].Seq
	}
	s, err = t.takeOverSession(ctx, id)
	return s, lastSeq, err
}

// leaseTime is slightly longer than a vanished runner keeps its session.
const leaseTime = 40 * time.Second

// takeOverSession takes the session of a sub-agent as soon as its former runner has lost it: that
// lease may outlast the parent's.
func (t *tasks) takeOverSession(ctx context.Context, id umpire.SessionID) (s umpire.Session, err error) {
	r := t.run
	resumption := umpire.Resumption{ID: id, Dir: r.session.Dir, Runner: r.Runner, Headless: r.session.Headless}
	for began := time.Now(); ; sleepFor(ctx, time.Second) {
		s, err = r.Gate.Sessions().Continue(ctx, resumption)
		if !errors.Is(err, umpire.ErrState) || ctx.Err() != nil || time.Since(began) > leaseTime {
			return s, err
		}
		existing, lookErr := r.Gate.Sessions().Get(ctx, id)
		if lookErr != nil || existing.State == umpire.SessionOver {
			return s, err
		}
	}
}
