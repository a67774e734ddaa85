package gate

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/project"
	"github.com/umpirehq/umpire/internal/store"
)

// lease is how long a runner keeps its session without renewing. A runner renews every third of it,
// and stops its work after two thirds without success.
const lease = 30 * time.Second

// sessions opens, continues, ends and tends sessions.
type sessions struct {
	*Projects

	// noted maps sessions to the changed project id that the timeline already reports.
	noted *sync.Map
	// tendTrials finishes the keeps that a session's previous runner had begun.
	tendTrials func(context.Context) error
}

// Open opens a session in the project of a folder. For an external agent, it returns a session that
// already exists.
func (ss *sessions) Open(ctx context.Context, o umpire.Opening) (umpire.Session, error) {
	if err := checkOpening(&o); err != nil {
		return umpire.Session{}, err
	}
	if err := ss.refresh(o.Dir); err != nil {
		return umpire.Session{}, err
	}
	if err := ss.inheritParent(ctx, &o); err != nil {
		return umpire.Session{}, err
	}
	s, err := ss.newSession(ctx, &o)
	if err != nil {
		return umpire.Session{}, err
	}
	notice, err := ss.profileNotice(&o)
	if err != nil {
		return umpire.Session{}, err
	}
	if o.External {
		existing, err := ss.existingSession(ctx, &s, &o)
		if err == nil || !errors.Is(err, umpire.ErrNotFound) {
			return existing, err
		}
	}
	existing, err := ss.openingGrants(&s, o.AllowedTools)
	if err != nil {
		return umpire.Session{}, err
	}
	broad := ss.stripped(&s)
	err = ss.update(ctx, func(tx *store.Tx) error {
		if err := checkParent(tx, &s); err != nil {
			return err
		}
		if o.Limited {
			if err := roomForSession(tx, s.Runner); err != nil {
				return err
			}
		}
		if err := tx.Sessions.Insert(s); err != nil {
			return err
		}
		t := ss.newTransaction(tx, s)
		detail := sessionDetail(&s)
		noteStripped(detail, umpire.ModeReject, s.Mode, broad)
		t.append(umpire.Event{Kind: umpire.EventSessionOpened}, detail)
		t.addOpeningGrants(existing)
		if notice != "" {
			t.addNotice(notice)
		}
		return t.flush()
	})
	if isConflict(err) && o.External {
		return ss.existingSession(ctx, &s, &o)
	}
	if isConflict(err) {
		return umpire.Session{}, umpire.Errorf("session %q exists: %w", s.ID, umpire.ErrState)
	}
	return s, err
}

func checkOpening(o *umpire.Opening) error {
	if err := umpire.CheckID("session_id", o.ID); err != nil {
		return err
	}
	if o.External && o.ID == "" {
		return invalid("session_id", "an agent that runs its calls itself names its session")
	}
	return checkDir("working_dir", o.Dir)
}

// newSession returns a new session for an opening.
func (ss *sessions) newSession(ctx context.Context, o *umpire.Opening) (umpire.Session, error) {
	p, err := ss.projectOf(o.Dir, o.AddDirs)
	if err != nil {
		return umpire.Session{}, err
	}
	if _, err := profileOf(o.Profile, p.settings.Profiles); err != nil {
		return umpire.Session{}, err
	}
	mode, err := ss.usualMode(ctx, p)
	if err != nil {
		return umpire.Session{}, err
	}
	now := ss.now()
	s := umpire.Session{
		ID: o.ID, Project: p.ID, Root: p.Root, Dir: p.Dir, Worktree: p.Worktree, GitDir: p.GitDir,
		IsRoot: o.Parent == "", Parent: o.Parent, Agent: o.Agent, Profile: o.Profile, Mode: mode,
		AllowBypass: o.AllowBypass, Headless: o.Headless, External: o.External, AddDirs: o.AddDirs,
		State: umpire.SessionIdle, Permission: umpire.StateIdle, Epoch: 1, Runner: o.Runner, CreatedAt: now,
		ActiveAt: now,
	}
	if s.ID == "" {
		s.ID = newSessionID()
	}
	if err := ss.limitOpening(o, p, mode); err != nil {
		return umpire.Session{}, err
	}
	if err := checkMode(&p.settings.Most, o.Mode); err != nil {
		return umpire.Session{}, err
	}
	if o.Mode != nil {
		s.Mode = *o.Mode
	}
	if s.Mode == umpire.ModeBypass && !s.AllowBypass {
		return s, invalid("mode", "bypass must be permitted when the session is opened")
	}
	if s.Runner != "" {
		s.LeaseUntil = now.Add(lease)
	}
	return s, nil
}

// sessionDetail returns the event detail for a session.
func sessionDetail(s *umpire.Session) map[string]any {
	return map[string]any{
		"project_root": s.Root, "working_dir": s.Dir, "worktree": s.Worktree, "is_root_session": s.IsRoot,
		"mode": s.Mode, "epoch": s.Epoch, "parent": s.Parent, "forked_from": s.ForkedFrom, "headless": s.Headless,
	}
}

// existingSession returns the session that an external agent already has. A session of another
// project cannot be taken over by its id.
func (ss *sessions) existingSession(ctx context.Context, s *umpire.Session, o *umpire.Opening) (umpire.Session, error) {
	existing, err := ss.Get(ctx, s.ID)
	if err != nil {
		return umpire.Session{}, err
	}
	p, err := ss.projectOf(o.Dir, o.AddDirs)
	if err != nil {
		return umpire.Session{}, err
	}
	over := existing.State == umpire.SessionOver && existing.External && p.Has(&existing)
	if over {
		existing, err = ss.reopen(ctx, s)
	} else if _, err = p.CheckResume(&existing, false); err == nil {
		err = ss.addRunner(ctx, &existing, s.Runner)
	}
	if err == nil {
		err = ss.noteIdentity(ctx, &existing, p, 0)
	}
	if err != nil {
		return umpire.Session{}, err
	}
	return existing, nil
}

// reopen continues an ended session of an external agent: the agent keeps its id when a person
// resumes it. Denials stay.
func (ss *sessions) reopen(ctx context.Context, s *umpire.Session) (existing umpire.Session, err error) {
	err = ss.step(ctx, s.ID, 0, func(t *transaction) error {
		var err error
		if t.session.State == umpire.SessionOver {
			t.session.State, t.session.EndedAt = umpire.SessionIdle, time.Time{}
			t.resume(s.Runner)
		} else if ss.lacksRunner(&t.session, s.Runner) { // another process was faster
			err = t.addRunner(s.Runner)
		}
		existing = t.session
		return err
	})
	return existing, err
}

// Get returns the current state of a session.
func (ss *sessions) Get(ctx context.Context, id umpire.SessionID) (umpire.Session, error) {
	return ss.readSession(ctx, id)
}

// Latest returns the session that Continue takes by default.
func (ss *sessions) Latest(ctx context.Context, q umpire.LatestQuery) (umpire.Session, error) {
	p, err := ss.Project(q.Dir)
	if err != nil {
		return umpire.Session{}, err
	}
	return ss.latest(ctx, p, q.Agent)
}

// List returns sessions, the latest activity first.
func (ss *sessions) List(ctx context.Context, q umpire.SessionQuery) ([]umpire.Session, error) {
	return readIn(ctx, ss.view, func(tx *store.Tx) ([]umpire.Session, error) {
		return tx.Sessions.List(store.SessionQuery{
			Project: q.Project, Runners: q.Runners, Limit: q.Limit, After: q.After, AfterActiveAt: q.AfterActiveAt,
		})
	})
}

// Continue takes a session for a runner, if the guards of the project let it. It increments the
// epoch to fence off the previous runner. It first finishes a keep that the previous runner had
// begun.
func (ss *sessions) Continue(ctx context.Context, r umpire.Resumption) (umpire.Session, error) {
	if err := ss.tendTrials(ctx); err != nil && ss.config.Warn != nil {
		ss.config.Warn(err)
	}
	if err := ss.refresh(r.Dir); err != nil {
		return umpire.Session{}, err
	}
	p, err := ss.Project(r.Dir)
	if err != nil {
		return umpire.Session{}, err
	}
	if r.ID == "" {
		latest, err := ss.latest(ctx, p, r.Agent)
		if err != nil {
			return umpire.Session{}, err
		}
		r.ID = latest.ID
	}
	var s umpire.Session
	err = ss.step(ctx, r.ID, 0, func(t *transaction) error {
		if err := t.takeOver(p, &r); err != nil {
			return err
		}
		s = t.session
		return nil
	})
	if err != nil {
		return umpire.Session{}, err
	}
	if err := ss.noteIdentity(ctx, &s, p, 0); err != nil {
		return umpire.Session{}, err
	}
	return ss.Get(ctx, s.ID)
}

// latest finds the latest live root session of an agent in the worktree of a project.
func (ss *sessions) latest(ctx context.Context, p *Project, agent string) (umpire.Session, error) {
	var found []umpire.Session
	var elsewhere umpire.SessionID
	err := ss.viewForChange(ctx, func(tx *store.Tx) (err error) {
		for _, id := range []umpire.ProjectID{p.ID, cmp.Or(p.Former, p.ID), ""} { // last, any id at this root
			found, err = tx.Sessions.List(store.SessionQuery{Project: id, Root: p.Root, Agent: agent, Limit: 1})
			if err != nil || len(found) > 0 {
				return err
			}
		}
		elsewhere, err = tx.Sessions.LastRoot(p.ID)
		return err
	})
	switch {
	case err == nil && len(found) > 0:
		return found[0], nil
	case err == nil:
		return ss.errNoSession(ctx, p, elsewhere)
	case errors.Is(err, umpire.ErrNotFound):
		return umpire.Session{},
			umpire.Errorf("no session to continue in %s; start one with umpire run \"TASK\": %w", p.Root,
				umpire.ErrState)
	}
	return umpire.Session{}, err
}

// errNoSession reports that a project has no session in this worktree, and names the one it has in
// another folder.
func (ss *sessions) errNoSession(ctx context.Context, p *Project, elsewhere umpire.SessionID) (umpire.Session, error) {
	last, err := ss.Get(ctx, elsewhere)
	if err != nil || last.Root == p.Root || last.External || last.State == umpire.SessionOver {
		return umpire.Session{}, umpire.Errorf("no session to continue in %s; start one with umpire run \"TASK\": %w",
			p.Root, umpire.ErrState)
	}
	return umpire.Session{},
		umpire.Errorf("no session to continue in %s; to continue session %s of this project, in %s: --session %s: %w",
			p.Root, project.PrintableID(last.ID), last.Dir, project.PrintableID(last.ID), umpire.ErrState)
}

// takeOver gives the session to a runner.
func (t *transaction) takeOver(p *Project, r *umpire.Resumption) error {
	crossProject := r.AllowCrossProject || p.settings.CrossProject
	crossed, err := p.CheckResume(&t.session, crossProject)
	if err != nil {
		return err
	}
	if t.session.External {
		return umpire.Errorf("session %s belongs to the agent %s, which runs its own calls: continue it there: %w",
			project.PrintableID(t.session.ID), cmp.Or(t.session.Agent, "that opened it"), umpire.ErrState)
	}
	if err := t.checkFree(); err != nil {
		return err
	}
	t.adoptProject(p)
	if r.Mode != nil && t.session.Parent != "" {
		return errOwnMode
	}
	if err := limitMode(r, t.session.Mode); err != nil {
		return err
	}
	if r.Mode != nil {
		if *r.Mode == umpire.ModeBypass && !r.AllowBypass {
			return invalid("mode", "bypass must be permitted when the session is opened")
		}
		t.session.Mode, t.session.AllowBypass = *r.Mode, r.AllowBypass
	}
	t.session.Epoch++
	t.session.Headless, t.session.Runner, t.session.LeaseUntil = r.Headless, r.Runner, time.Time{}
	t.session.Runners = nil
	if r.Runner != "" {
		t.session.LeaseUntil = t.now.Add(lease)
	}
	detail := sessionDetail(&t.session)
	detail["cross_project"] = crossed
	detail["from_project"] = p.ID
	t.append(umpire.Event{Kind: umpire.EventSessionResumed}, detail)
	return t.loseCalls()
}

// checkFree fails while another live runner holds the session.
func (t *transaction) checkFree() error {
	if t.session.Runner == "" || !t.session.LeaseUntil.After(t.now) || t.backend.hasEnded(t.session.Runner) {
		return nil
	}
	return umpire.Errorf("session %q is run by %s until %s at least: %w", t.session.ID, t.session.Runner,
		t.session.LeaseUntil.Format(time.TimeOnly), umpire.ErrState)
}

// adoptProject pins a session to the project: an old session without a project gets the project's
// id.
func (o *outcome) adoptProject(p *Project) {
	if o.session.Project == "" {
		o.session.Project, o.session.Root, o.session.GitDir, o.session.Worktree = p.ID, p.Root, p.GitDir, p.Worktree
		o.addNotice(umpire.Say("This session had no project; it belongs to %s from now on.", p.ID.Short()))
		return
	}
}

// profileNotice returns a notice if the profile of a new session seems to limit editing but does
// not, or "".
func (ss *sessions) profileNotice(o *umpire.Opening) (umpire.Phrase, error) {
	p, err := ss.projectOf(o.Dir, o.AddDirs)
	if err != nil {
		return "", err
	}
	profile, err := profileOf(o.Profile, p.settings.Profiles)
	if err != nil || profile == nil || !profile.LimitsNothing() {
		return "", err
	}
	return umpire.Say("No item of editableFileSuffixes of the agent %q is a suffix, so that it may edit every file.",
		cmp.Or(o.Profile, mainProfile)), nil
}

// Fork makes a new session with the conversation of another one of the same project. It starts
// without grants.
func (ss *sessions) Fork(ctx context.Context, from umpire.SessionID, r umpire.Resumption) (umpire.Session, error) {
	p, err := ss.Project(r.Dir)
	if err != nil {
		return umpire.Session{}, err
	}
	origin, err := ss.Get(ctx, from)
	if err != nil {
		return umpire.Session{}, err
	}
	if err := p.CheckFork(&origin); err != nil {
		return umpire.Session{}, err
	}
	o := umpire.Opening{
		Dir: r.Dir, Agent: origin.Agent, Profile: origin.Profile, Mode: r.Mode, AddDirs: origin.AddDirs,
		Headless: r.Headless, AllowBypass: r.AllowBypass, Runner: r.Runner,
	}
	if err := limitMode(&r, origin.Mode); err != nil {
		return umpire.Session{}, err
	}
	s, err := ss.newSession(ctx, &o)
	if err != nil {
		return umpire.Session{}, err
	}
	s.IsRoot, s.ForkedFrom = false, from
	messages, err := (&conversations{ss.backend}).copyMessages(ctx, from, s.ID)
	if err != nil {
		return umpire.Session{}, err
	}
	err = ss.update(ctx, func(tx *store.Tx) error {
		if err := tx.Sessions.Insert(s); err != nil {
			return err
		}
		for _, m := range messages {
			if err := tx.Messages.Append(s.ID, m); err != nil {
				return err
			}
		}
		t := ss.newTransaction(tx, s)
		t.append(umpire.Event{Kind: umpire.EventSessionOpened}, sessionDetail(&s))
		return t.flush()
	})
	return s, err
}

// Renew extends the lease of the runner with that epoch.
func (ss *sessions) Renew(ctx context.Context, id umpire.SessionID, epoch int64) (until time.Time, err error) {
	if epoch == 0 {
		return until, invalid("epoch", "is missing")
	}
	err = ss.step(ctx, id, epoch, func(t *transaction) error {
		t.quiet = true
		t.session.LeaseUntil = t.now.Add(lease)
		until = t.session.LeaseUntil
		return nil
	})
	return until, err
}

// End ends a session for good: its questions are denied, and calls not yet started never start.
func (ss *sessions) End(ctx context.Context, id umpire.SessionID, reason string) error {
	err := ss.step(ctx, id, 0, func(t *transaction) error {
		if t.session.State == umpire.SessionOver {
			return nil
		}
		return t.endSession(reason)
	})
	if err != nil {
		return err
	}
	return ss.endChildren(ctx, id)
}

func (t *transaction) endSession(reason string) error {
	open, err := t.tx.Batches.ListOpen(t.session.ID)
	if err != nil {
		return err
	}
	for i := range open {
		if err := t.closeBatch(&open[i]); err != nil {
			return err
		}
	}
	t.session.State, t.session.EndedAt = umpire.SessionOver, t.now
	t.session.Runner, t.session.Runners, t.session.LeaseUntil = "", nil, time.Time{}
	t.append(umpire.Event{Kind: umpire.EventSessionEnded, Reason: umpire.Verbatim(reason)}, nil)
	return nil
}

// closeBatch ends a batch whose session ends.
func (o *outcome) closeBatch(b *umpire.Batch) error {
	if b.State == umpire.BatchFinished {
		return nil
	}
	if err := o.dropCalls(b, umpire.CodeDenied, "the session ended"); err != nil {
		return err
	}
	for _, c := range b.Calls {
		if c.State == umpire.CallExecuting {
			if err := o.giveUpCall(b, &c); err != nil {
				return err
			}
		}
	}
	return o.continueBatch(b)
}

// Delete removes a session but keeps its events, which are the permanent record.
func (ss *sessions) Delete(ctx context.Context, id umpire.SessionID) error {
	if err := ss.End(ctx, id, "deleted"); err != nil {
		return err
	}
	return ss.update(ctx, func(tx *store.Tx) error {
		s, err := tx.Sessions.Lock(id)
		if err != nil {
			return umpire.Errorf("session %q: %w", id, err)
		}
		t := ss.newTransaction(tx, s)
		t.append(umpire.Event{Kind: umpire.EventNotice, Reason: "The session was deleted."}, nil)
		if err := t.flush(); err != nil {
			return err
		}
		return tx.Sessions.Delete(id)
	})
}

// endChildren ends the sessions that a session started, to avoid questions on behalf of an ended parent.
func (ss *sessions) endChildren(ctx context.Context, id umpire.SessionID) error {
	children, err := readIn(ctx, ss.view, func(tx *store.Tx) ([]umpire.Session, error) {
		return tx.Sessions.List(store.SessionQuery{Parent: id})
	})
	for i := range children {
		if children[i].State != umpire.SessionOver {
			err = errors.Join(err, ignoreGone(ss.End(ctx, children[i].ID, "its parent has ended")))
		}
	}
	return err
}
