package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/hold/process"
	"github.com/umpirehq/umpire/internal/server"
	"github.com/umpirehq/umpire/internal/view"
)

// enterSession opens a session, or resumes the one of the flags. If another process runs that
// session, the task is queued there and the result is an error, because the task has not run yet.
func (s *agentRun) enterSession(ctx context.Context, task string) (umpire.Session, error) {
	if s.personGate != nil {
		entered, err := s.enterSessionBy(ctx, s.personGate, task)
		if !errors.Is(err, server.ErrCredential) {
			return entered, err
		}
		// A sandbox around this process keeps it from being a person: it continues as an
		// agent.
	}
	return s.enterSessionBy(ctx, s.gate, task)
}

func (s *agentRun) enterSessionBy(ctx context.Context, gate umpire.Gate,
	task string) (entered umpire.Session, err error) {
	resumption := umpire.Resumption{
		ID: umpire.SessionID(s.flags.session), Dir: s.Dir, Agent: app.AgentName,
		AllowCrossProject: s.flags.allowCrossProject,
		Runner:            process.NameOf(os.Getpid()),
		Mode:              s.mode, AllowBypass: s.flags.allowBypass, Headless: s.headless,
	}
	switch {
	case s.flags.session != "" || s.flags.goOn:
		return s.resumeSession(ctx, gate, resumption, task)
	case s.flags.fork != "":
		entered, err = gate.Sessions().Fork(ctx, umpire.SessionID(s.flags.fork), resumption)
	default:
		entered, err = gate.Sessions().Open(ctx, umpire.Opening{
			Dir: s.Dir, Agent: app.AgentName, Profile: s.flags.profile, Mode: s.mode, AddDirs: s.flags.addDirs,
			AllowedTools: app.SplitRules(s.flags.allowedTools),
			Headless:     s.headless, AllowBypass: s.flags.allowBypass, Runner: resumption.Runner,
		})
	}
	return entered, app.SessionError(err)
}

// resumeSession resumes a session. If the person did not name one, it says which session
// and where. If another process runs the session, the task is queued there.
func (s *agentRun) resumeSession(ctx context.Context, gate umpire.Gate, r umpire.Resumption,
	task string) (umpire.Session, error) {
	existing, err := findExisting(ctx, gate, &r)
	if err != nil {
		return existing, app.SessionError(err)
	}
	if r.ID == "" {
		s.Remark(fmt.Sprintf(s.Text.Of("continuing session %s in %s"), view.Visible(string(existing.ID)),
			view.Visible(existing.Dir)))
	}
	r.ID = existing.ID
	entered, err := gate.Sessions().Continue(ctx, r)
	busy := errors.Is(err, umpire.ErrState) && existing.State != umpire.SessionOver && existing.Runner != "" &&
		!existing.External
	if !busy || task == "" {
		return entered, app.SessionError(err)
	}
	if err := s.mayEnter(&existing, r); err != nil {
		return existing, app.GateError(err)
	}
	prompted, err := gate.Conversations().Prompt(ctx, umpire.Prompt{Session: r.ID, Text: task})
	if err != nil {
		return existing, app.GateError(err)
	}
	return existing, &app.CommandError{Code: app.ExitAsks, Hint: queuedHint(&existing, prompted),
		Err: errors.New(s.queuedText(&existing, prompted))}
}

// findExisting returns the named session, or the latest one if the name is empty.
func findExisting(ctx context.Context, gate umpire.Gate, r *umpire.Resumption) (umpire.Session, error) {
	if r.ID == "" {
		return gate.Sessions().Latest(ctx, umpire.LatestQuery{Dir: r.Dir, Agent: r.Agent})
	}
	return gate.Sessions().Get(ctx, r.ID)
}

// mayEnter applies the rules for resuming a session to a queued task.
func (s *agentRun) mayEnter(existing *umpire.Session, r umpire.Resumption) error {
	p, err := s.FindProject(s.Dir)
	if err != nil {
		return err
	}
	crossProject := r.AllowCrossProject || s.conf.CrossProject
	_, err = p.CheckResume(existing, crossProject)
	return err
}

// queuedHint returns the next step for a person with a queued task.
func queuedHint(existing *umpire.Session, prompted umpire.Prompted) string {
	if prompted.Waiting > 0 {
		return "umpire pending"
	}
	return "umpire timeline --follow --session " + string(existing.ID)
}

// queuedText says why a queued task has to wait.
func (s *agentRun) queuedText(existing *umpire.Session, prompted umpire.Prompted) string {
	if prompted.Waiting > 0 {
		return fmt.Sprintf(s.Text.Of("queued: session %s waits for answers first (umpire pending): %d"), existing.ID,
			prompted.Waiting)
	}
	return fmt.Sprintf(s.Text.Of("queued: session %s is running in %s"), existing.ID, view.Visible(existing.Runner))
}

// lastSeqBefore returns the event before this process entered the session.
func (s *agentRun) lastSeqBefore(ctx context.Context, id umpire.SessionID) (int64, error) {
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
