package gate

import (
	"context"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/project"
)

// maxRunners bounds the processes that run one session at once.
const maxRunners = 64

// AddRunner adds a live process to the runners of an external agent's session, and updates s. A
// runner leaves only when it ends, so a false claim cannot displace a real runner and free its
// children of the guard. Adding a runner again changes nothing.
func (g *Gate) AddRunner(ctx context.Context, s *umpire.Session, runner string) error {
	return g.sessions.addRunner(ctx, s, runner)
}

func (ss *sessions) addRunner(ctx context.Context, s *umpire.Session, runner string) error {
	if !s.External || s.State == umpire.SessionOver || !ss.lacksRunner(s, runner) {
		return nil
	}
	return ss.step(ctx, s.ID, 0, func(t *transaction) error {
		if t.session.State == umpire.SessionOver || !ss.lacksRunner(&t.session, runner) {
			return nil
		}
		err := t.addRunner(runner)
		*s = t.session
		return err
	})
}

// lacksRunner reports whether a live process is missing from the runners, or the first of them has ended.
func (ss *sessions) lacksRunner(s *umpire.Session, runner string) bool {
	known := slices.Contains(s.AllRunners(), runner) && (s.Runner == runner || !ss.hasEnded(s.Runner))
	return runner != "" && !known && !ss.hasEnded(runner)
}

// addRunner adds a runner and drops those that have ended. If all have ended, the runner resumes the session.
func (t *transaction) addRunner(runner string) error {
	gone := func(r string) bool { return r == runner || t.backend.hasEnded(r) }
	live := slices.DeleteFunc(t.session.AllRunners(), gone)
	if len(live) == 0 {
		t.resume(runner)
		return nil
	}
	if len(live) >= maxRunners {
		return umpire.Errorf("%d processes run session %s: end one first: %w", len(live),
			project.PrintableID(t.session.ID), umpire.ErrLimit)
	}
	t.quiet = true
	t.session.Runner, t.session.Runners = live[0], append(live[1:], runner)
	return nil
}

// resume gives a session without a live runner to a new one.
func (t *transaction) resume(runner string) {
	t.session.Epoch++
	t.session.Runner, t.session.Runners = runner, nil
	t.append(umpire.Event{Kind: umpire.EventSessionResumed}, sessionDetail(&t.session))
}
