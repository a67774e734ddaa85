package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/runner"
	"github.com/umpirehq/umpire/internal/session"
)

// agentName is how the built-in agent is called on the timeline.
const agentName = "umpire"

// enter opens a session, or takes the one that the flags name. Queued says that the
// task was left with a session that somebody else runs, or that waits.
func (s *stay) enter(ctx context.Context, task string) (entered umpire.Session, queued bool, err error) {
	resumption := umpire.Resumption{
		ID: umpire.SessionID(s.flags.session), Dir: s.dir, AllowCrossProject: s.flags.allowCrossProject || s.conf.CrossProject,
		Runner: process.NameOf(os.Getpid()), Mode: s.mode, AllowBypass: s.flags.allowBypass, Headless: s.headless,
	}
	switch {
	case (s.flags.session != "" || s.flags.goOn) && task != "":
		return s.enterOrQueue(ctx, resumption, task)
	case s.flags.session != "" || s.flags.goOn:
		entered, err = s.gate.Continue(ctx, resumption)
	case s.flags.fork != "":
		entered, err = s.gate.Fork(ctx, umpire.SessionID(s.flags.fork), resumption)
	default:
		entered, err = s.gate.Open(ctx, umpire.Opening{
			Dir: s.dir, Agent: agentName, Profile: s.flags.profile, Mode: s.mode, AddDirs: s.flags.addDirs,
			Headless: s.headless, AllowBypass: s.flags.allowBypass, Runner: resumption.Runner,
		})
	}
	return entered, false, sessionError(err)
}

// sessionError is the gate's error about a session that a flag names, with what to look at.
func sessionError(err error) error {
	told, ok := errors.AsType[*exit](gateError(err))
	switch {
	case !ok:
		return err
	case told.hint != "":
	case errors.Is(err, umpire.ErrNotFound):
		told.hint = "umpire sessions --all-projects"
	case errors.Is(err, umpire.ErrState):
		told.hint = "umpire sessions"
	}
	return told
}

// enterOrQueue takes a session to give it a task. Where another runner has it the task
// is queued: that one will see to it. Where nobody has it, waiting for answers is up to
// this process.
func (s *stay) enterOrQueue(ctx context.Context, r umpire.Resumption, task string) (umpire.Session, bool, error) {
	standing, err := s.standing(ctx, &r)
	if err != nil {
		return standing, false, sessionError(err)
	}
	r.ID = standing.ID
	entered, err := s.gate.Continue(ctx, r)
	if !errors.Is(err, umpire.ErrState) || standing.State == umpire.SessionOver || standing.Runner == "" {
		return entered, false, gateError(err)
	}
	if err := s.mayEnter(&standing, r); err != nil {
		return standing, false, gateError(err)
	}
	told, err := s.gate.Prompt(ctx, umpire.Prompt{Session: r.ID, Text: task})
	if err != nil {
		return standing, false, gateError(err)
	}
	s.remark(s.queuedText(&standing, told))
	return standing, true, nil
}

// standing is the session that is meant, as it stands: the latest where none is named.
func (s *stay) standing(ctx context.Context, r *umpire.Resumption) (umpire.Session, error) {
	if r.ID == "" {
		return s.gate.Latest(ctx, r.Dir)
	}
	return s.gate.Session(ctx, r.ID)
}

// mayEnter holds a queued task to the rules for going on with a session.
func (s *stay) mayEnter(standing *umpire.Session, r umpire.Resumption) error {
	p, err := s.project(s.dir)
	if err != nil {
		return err
	}
	_, err = session.Resume(session.Place{Project: p.ID}, standing, session.Leave{CrossProject: r.AllowCrossProject})
	return err
}

// queuedText says what a queued task waits for.
func (s *stay) queuedText(standing *umpire.Session, told umpire.Prompted) string {
	if told.Waiting > 0 {
		return fmt.Sprintf(s.text.of("queued: session %s waits for answers first (umpire pending): %d"), standing.ID, told.Waiting)
	}
	return fmt.Sprintf(s.text.of("queued: session %s is run by %s"), standing.ID, visible(standing.Runner))
}

// since is the event before the one with which this process came to the session.
func (s *stay) since(ctx context.Context, id umpire.SessionID) (int64, error) {
	events, err := s.gate.Events(ctx, umpire.Filter{Session: id})
	if err != nil {
		return 0, err
	}
	for _, e := range slices.Backward(events) {
		if e.Kind == umpire.EventSessionResumed || e.Kind == umpire.EventSessionOpened {
			return e.Seq - 1, nil
		}
	}
	return 0, nil
}
