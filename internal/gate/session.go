package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// Lease is how long a runner keeps its session without renewing. A runner renews
// every third of it, and ends what it runs when two thirds passed in vain.
const Lease = 30 * time.Second

// Open opens a session in the project of a folder. For an external agent, opening
// one that exists answers with it.
func (g *Gate) Open(ctx context.Context, o umpire.Opening) (umpire.Session, error) {
	if err := checkOpening(&o); err != nil {
		return umpire.Session{}, err
	}
	if err := g.refresh(o.Dir); err != nil {
		return umpire.Session{}, err
	}
	if err := g.under(ctx, &o); err != nil {
		return umpire.Session{}, err
	}
	s, err := g.newSession(ctx, &o)
	if err != nil {
		return umpire.Session{}, err
	}
	notice, err := g.profileNotice(&o)
	if err != nil {
		return umpire.Session{}, err
	}
	if o.External {
		standing, err := g.standingSession(ctx, &s, &o)
		if err == nil || !errors.Is(err, umpire.ErrNotFound) {
			return standing, err
		}
	}
	standing, err := g.standingGrants(&s, o.AllowedTools)
	if err != nil {
		return umpire.Session{}, err
	}
	broad := g.stripped(&s)
	err = g.update(ctx, func(tx *store.Tx) error {
		if err := sibling(tx, &s); err != nil {
			return err
		}
		if o.Limited {
			if err := roomForSession(tx, s.Runner); err != nil {
				return err
			}
		}
		if err := tx.InsertSession(s); err != nil {
			return err
		}
		t := &step{gate: g, tx: tx, now: g.now(), session: s}
		told := about(&s)
		tellStripped(told, umpire.ModeReject, s.Mode, broad)
		if err := t.append(umpire.Event{Kind: umpire.EventSessionOpened}, told); err != nil {
			return err
		}
		if err := t.giveStanding(standing); err != nil || notice == "" {
			return err
		}
		return t.notice(notice)
	})
	if isConflict(err) && o.External {
		return g.standingSession(ctx, &s, &o)
	}
	if isConflict(err) {
		return umpire.Session{}, fmt.Errorf("session %q exists: %w", s.ID, umpire.ErrState)
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

// newSession is a session as it is opened.
func (g *Gate) newSession(ctx context.Context, o *umpire.Opening) (umpire.Session, error) {
	p, err := g.projectOf(o.Dir, o.AddDirs)
	if err != nil {
		return umpire.Session{}, err
	}
	if _, err := profileOf(o.Profile, p.settings.Profiles); err != nil {
		return umpire.Session{}, err
	}
	mode, err := g.usualMode(ctx, p)
	if err != nil {
		return umpire.Session{}, err
	}
	now := g.now()
	s := umpire.Session{
		ID: o.ID, Project: p.ID, Root: p.Root, Dir: p.Dir, Worktree: p.Worktree, GitDir: p.GitDir,
		IsRoot: o.Parent == "", Parent: o.Parent, Agent: o.Agent, Profile: o.Profile, Mode: mode,
		AllowBypass: o.AllowBypass, Headless: o.Headless, External: o.External, AddDirs: o.AddDirs,
		State: umpire.SessionIdle, Permission: umpire.StateIdle, Epoch: 1, Runner: o.Runner, CreatedAt: now, ActiveAt: now,
	}
	if s.ID == "" {
		s.ID = newSessionID()
	}
	if err := g.limit(o, p, mode); err != nil {
		return umpire.Session{}, err
	}
	if err := p.settings.Most.beyond(o.Mode); err != nil {
		return umpire.Session{}, err
	}
	if o.Mode != nil {
		s.Mode = *o.Mode
	}
	if s.Mode == umpire.ModeBypass && !s.AllowBypass {
		return s, invalid("mode", "bypass has to be permitted when the session is opened")
	}
	if s.Runner != "" {
		s.LeaseUntil = now.Add(Lease)
	}
	return s, nil
}

// about is what the timeline tells of a session.
func about(s *umpire.Session) map[string]any {
	return map[string]any{
		"project_root": s.Root, "working_dir": s.Dir, "worktree": s.Worktree, "is_root_session": s.IsRoot,
		"mode": s.Mode, "epoch": s.Epoch, "parent": s.Parent, "forked_from": s.ForkedFrom, "headless": s.Headless,
	}
}

// standingSession returns the session that an external agent has already. One of
// another project is not taken over by its id; one of this project from before its first
// commit is.
func (g *Gate) standingSession(ctx context.Context, s *umpire.Session, o *umpire.Opening) (umpire.Session, error) {
	standing, err := g.Session(ctx, s.ID)
	if err != nil {
		return umpire.Session{}, err
	}
	p, err := g.projectOf(o.Dir, o.AddDirs)
	if err != nil {
		return umpire.Session{}, err
	}
	if standing.State == umpire.SessionOver && standing.External && (standing.Project == p.ID || standing.Project == p.Former && p.Former != "") {
		return g.reopen(ctx, s)
	}
	if _, err := CheckResume(placeOf(p), &standing, false); err != nil {
		return umpire.Session{}, err
	}
	if standing.Project != p.ID && standing.Project == p.Former {
		if err := g.tellFormer(ctx, standing.ID, p); err != nil {
			return umpire.Session{}, err
		}
	}
	if standing.External && g.outlived(standing.Runner) && s.Runner != "" {
		return g.reopen(ctx, s)
	}
	return standing, nil
}

// tellFormer puts on a session's timeline, once, that its project has another id by now.
func (g *Gate) tellFormer(ctx context.Context, id umpire.SessionID, p *Project) (err error) {
	if _, told := g.toldFormer.LoadOrStore(id, true); told {
		return nil
	}
	defer func() {
		if err != nil {
			g.toldFormer.Delete(id)
		}
	}()
	events, err := g.Events(ctx, umpire.Filter{Session: id})
	if err != nil {
		return err
	}
	text := formerNotice(p)
	if slices.ContainsFunc(events, func(e umpire.Event) bool { return e.Kind == umpire.EventNotice && e.Reason == text }) {
		return nil
	}
	return g.step(ctx, id, 0, func(t *step) error { return t.notice(text) })
}

func formerNotice(p *Project) string {
	return fmt.Sprintf("This project is known as %s by now; the session stays with %s.", p.ID.Short(), p.Former.Short())
}

// outlived reports whether the process that ran a session is gone. Another one that takes
// the session up again is its runner from then on, and what it starts may answer nothing.
func (g *Gate) outlived(runner string) bool {
	if g.config.Alive == nil {
		return false
	}
	alive, known := g.config.Alive(runner)
	return runner == "" || known && !alive
}

// reopen continues an external agent's session that had ended, or whose process is gone:
// the agent keeps its id when a person takes it up again. What was denied stays denied.
func (g *Gate) reopen(ctx context.Context, s *umpire.Session) (standing umpire.Session, err error) {
	err = g.step(ctx, s.ID, 0, func(t *step) error {
		if t.session.State == umpire.SessionOver {
			t.session.State, t.session.EndedAt = umpire.SessionIdle, time.Time{}
		}
		t.session.Epoch++
		t.session.Runner = s.Runner
		standing = t.session
		return t.append(umpire.Event{Kind: umpire.EventSessionResumed}, about(&t.session))
	})
	return standing, err
}

// Session returns a session as it stands.
func (g *Gate) Session(ctx context.Context, id umpire.SessionID) (s umpire.Session, err error) {
	err = g.view(ctx, func(tx *store.Tx) error {
		s, err = tx.Session(id)
		return err
	})
	if err != nil {
		return umpire.Session{}, fmt.Errorf("session %s: %w", PrintableID(id), err)
	}
	return s, nil
}

// Latest returns the session that [Gate.Continue] takes when none is named.
func (g *Gate) Latest(ctx context.Context, q umpire.LatestQuery) (umpire.Session, error) {
	p, err := g.Project(q.Dir)
	if err != nil {
		return umpire.Session{}, err
	}
	return g.latest(ctx, p, q.Agent)
}

// Sessions returns sessions, the latest activity first.
func (g *Gate) Sessions(ctx context.Context, q umpire.SessionQuery) (all []umpire.Session, err error) {
	err = g.view(ctx, func(tx *store.Tx) error {
		all, err = tx.Sessions(store.SessionQuery{Project: q.Project, Limit: q.Limit})
		return err
	})
	return all, err
}

// Continue takes a session for a runner, if the guards of the project let it. Its
// epoch grows, so that whoever ran it before is fenced off.
func (g *Gate) Continue(ctx context.Context, r umpire.Resumption) (umpire.Session, error) {
	if err := checkDir("working_dir", r.Dir); err != nil {
		return umpire.Session{}, err
	}
	if err := g.refresh(r.Dir); err != nil {
		return umpire.Session{}, err
	}
	p, err := g.Project(r.Dir)
	if err != nil {
		return umpire.Session{}, err
	}
	if r.ID == "" {
		latest, err := g.latest(ctx, p, r.Agent)
		if err != nil {
			return umpire.Session{}, err
		}
		r.ID = latest.ID
	}
	var s umpire.Session
	err = g.step(ctx, r.ID, 0, func(t *step) error {
		if err := t.take(p, &r); err != nil {
			return err
		}
		s = t.session
		return nil
	})
	if err != nil {
		return umpire.Session{}, err
	}
	return g.Session(ctx, s.ID)
}

func placeOf(p *Project) ProjectIdentity { return ProjectIdentity{Project: p.ID, Former: p.Former} }

// latest finds the latest live root session of an agent in the worktree of a project.
func (g *Gate) latest(ctx context.Context, p *Project, agent string) (umpire.Session, error) {
	var found []umpire.Session
	var elsewhere umpire.SessionID
	err := g.peek(ctx, func(tx *store.Tx) (err error) {
		for _, id := range []umpire.ProjectID{p.ID, p.Former} {
			if id == "" {
				continue
			}
			found, err = tx.Sessions(store.SessionQuery{Project: id, Root: p.Root, Agent: agent, Limit: 1})
			if err != nil || len(found) > 0 {
				return err
			}
		}
		elsewhere, err = tx.LastRoot(p.ID)
		return err
	})
	switch {
	case err == nil && len(found) > 0:
		return found[0], nil
	case err == nil:
		return g.noneHere(ctx, p, elsewhere)
	case errors.Is(err, umpire.ErrNotFound):
		return umpire.Session{}, fmt.Errorf("project %s has no session to continue; start one with umpire run \"TASK\": %w", p.ID.Short(), umpire.ErrState)
	}
	return umpire.Session{}, err
}

// noneHere says that a project has no session in this worktree, and which one it has in
// another folder.
func (g *Gate) noneHere(ctx context.Context, p *Project, elsewhere umpire.SessionID) (umpire.Session, error) {
	last, err := g.Session(ctx, elsewhere)
	if err != nil || last.Root == p.Root || last.External || last.State == umpire.SessionOver {
		return umpire.Session{}, fmt.Errorf("no session to continue in %s; start one with umpire run \"TASK\": %w", p.Root, umpire.ErrState)
	}
	return umpire.Session{}, fmt.Errorf("no session to continue in %s; session %s of this project is in %s, continue it with --session %s: %w",
		p.Root, PrintableID(last.ID), last.Dir, PrintableID(last.ID), umpire.ErrState)
}

// take hands the session to a runner.
func (t *step) take(p *Project, r *umpire.Resumption) error {
	crossProject := r.AllowCrossProject || p.settings.CrossProject
	crossed, err := CheckResume(placeOf(p), &t.session, crossProject)
	if err != nil {
		return err
	}
	if t.session.External {
		return fmt.Errorf("session %s belongs to the agent %s, which runs its calls itself: continue it there: %w",
			PrintableID(t.session.ID), cmp.Or(t.session.Agent, "that opened it"), umpire.ErrState)
	}
	if err := t.free(); err != nil {
		return err
	}
	if err := t.adopt(p); err != nil {
		return err
	}
	if r.Mode != nil && t.session.Parent != "" {
		return errOwnMode
	}
	if err := limitMode(r, t.session.Mode); err != nil {
		return err
	}
	if r.Mode != nil {
		if *r.Mode == umpire.ModeBypass && !r.AllowBypass {
			return invalid("mode", "bypass has to be permitted when the session is opened")
		}
		t.session.Mode, t.session.AllowBypass = *r.Mode, r.AllowBypass
	}
	t.session.Epoch++
	t.session.Headless, t.session.Runner, t.session.LeaseUntil = r.Headless, r.Runner, time.Time{}
	if r.Runner != "" {
		t.session.LeaseUntil = t.now.Add(Lease)
	}
	told := about(&t.session)
	told["cross_project"] = crossed
	told["from_project"] = p.ID
	if err := t.append(umpire.Event{Kind: umpire.EventSessionResumed}, told); err != nil {
		return err
	}
	return t.lose()
}

// free refuses while another runner holds the session and lives.
func (t *step) free() error {
	if t.session.Runner == "" || !t.session.LeaseUntil.After(t.now) {
		return nil
	}
	if t.gate.config.Alive != nil {
		if alive, known := t.gate.config.Alive(t.session.Runner); known && !alive {
			return nil
		}
	}
	return fmt.Errorf("session %q is run by %s until %s at least: %w", t.session.ID, t.session.Runner,
		t.session.LeaseUntil.Format(time.TimeOnly), umpire.ErrState)
}

// adopt pins a session to the project: one from before sessions had a project gets
// its identity, and one whose project is known by another id by now keeps its own.
// Both are told.
func (t *step) adopt(p *Project) error {
	if t.session.Project == "" {
		t.session.Project, t.session.Root, t.session.GitDir, t.session.Worktree = p.ID, p.Root, p.GitDir, p.Worktree
		return t.notice("This session had no project; it belongs to " + p.ID.Short() + " from now on.")
	}
	if t.session.Project == p.Former && p.ID != p.Former {
		return t.notice(formerNotice(p))
	}
	return nil
}

// notice tells people something.
func (t *step) notice(text string) error {
	return t.append(umpire.Event{Kind: umpire.EventNotice, Reason: text}, nil)
}

// profileNotice says so when the profile of a new session seems to limit editing and
// does not; "" otherwise.
func (g *Gate) profileNotice(o *umpire.Opening) (string, error) {
	p, err := g.projectOf(o.Dir, o.AddDirs)
	if err != nil {
		return "", err
	}
	profile, err := profileOf(o.Profile, p.settings.Profiles)
	if err != nil || profile == nil || !profile.LimitsNothing() {
		return "", err
	}
	return fmt.Sprintf("No item of editableFileSuffixes of the agent %q is a suffix, so that it may edit every file.", cmp.Or(o.Profile, mainProfile)), nil
}

// Fork makes a new session with the conversation of another one of the same
// project. It starts without grants.
func (g *Gate) Fork(ctx context.Context, from umpire.SessionID, r umpire.Resumption) (umpire.Session, error) {
	if err := checkDir("working_dir", r.Dir); err != nil {
		return umpire.Session{}, err
	}
	p, err := g.Project(r.Dir)
	if err != nil {
		return umpire.Session{}, err
	}
	origin, err := g.Session(ctx, from)
	if err != nil {
		return umpire.Session{}, err
	}
	if err := CheckFork(placeOf(p), &origin); err != nil {
		return umpire.Session{}, err
	}
	o := umpire.Opening{
		Dir: r.Dir, Agent: origin.Agent, Profile: origin.Profile, Mode: r.Mode, AddDirs: origin.AddDirs,
		Headless: r.Headless, AllowBypass: r.AllowBypass, Runner: r.Runner,
	}
	if err := limitMode(&r, origin.Mode); err != nil {
		return umpire.Session{}, err
	}
	s, err := g.newSession(ctx, &o)
	if err != nil {
		return umpire.Session{}, err
	}
	s.IsRoot, s.ForkedFrom = false, from
	messages, err := g.copied(ctx, from, s.ID)
	if err != nil {
		return umpire.Session{}, err
	}
	err = g.update(ctx, func(tx *store.Tx) error {
		if err := tx.InsertSession(s); err != nil {
			return err
		}
		for _, m := range messages {
			if _, err := tx.AppendMessage(s.ID, m); err != nil {
				return err
			}
		}
		t := &step{gate: g, tx: tx, now: g.now(), session: s}
		return t.append(umpire.Event{Kind: umpire.EventSessionOpened}, about(&s))
	})
	return s, err
}

// Renew extends the lease of the runner with that epoch.
func (g *Gate) Renew(ctx context.Context, id umpire.SessionID, epoch int64) (until time.Time, err error) {
	if epoch == 0 {
		return until, invalid("epoch", "is missing")
	}
	err = g.step(ctx, id, epoch, func(t *step) error {
		t.quiet = true
		t.session.LeaseUntil = t.now.Add(Lease)
		until = t.session.LeaseUntil
		return nil
	})
	return until, err
}

// End ends a session for good: its questions are denied, and what has not started
// does not start.
func (g *Gate) End(ctx context.Context, id umpire.SessionID, reason string) error {
	err := g.step(ctx, id, 0, func(t *step) error {
		if t.session.State == umpire.SessionOver {
			return nil
		}
		return t.end(reason)
	})
	if err != nil {
		return err
	}
	return g.endChildren(ctx, id)
}

func (t *step) end(reason string) error {
	open, err := t.tx.OpenBatches(t.session.ID)
	if err != nil {
		return err
	}
	for i := range open {
		if err := t.close(&open[i]); err != nil {
			return err
		}
	}
	t.session.State, t.session.EndedAt = umpire.SessionOver, t.now
	t.session.Runner, t.session.LeaseUntil = "", time.Time{}
	return t.append(umpire.Event{Kind: umpire.EventSessionEnded, Reason: reason}, nil)
}

// close ends a batch whose session ends.
func (t *step) close(b *umpire.Batch) error {
	if b.State == umpire.BatchFinished {
		return nil
	}
	if err := t.dropAll(b, umpire.CodeDenied, "the session ended"); err != nil {
		return err
	}
	for _, c := range b.Calls {
		if c.State == umpire.CallExecuting {
			if err := t.giveUp(b, &c); err != nil {
				return err
			}
		}
	}
	return t.settle(b)
}

// Delete removes a session with everything but its events, which stay: they are
// the record of what happened.
func (g *Gate) Delete(ctx context.Context, id umpire.SessionID) error {
	if err := g.End(ctx, id, "deleted"); err != nil {
		return err
	}
	return g.update(ctx, func(tx *store.Tx) error {
		s, err := tx.LockSession(id)
		if err != nil {
			return fmt.Errorf("session %q: %w", id, err)
		}
		t := &step{gate: g, tx: tx, now: g.now(), session: s}
		if err := t.append(umpire.Event{Kind: umpire.EventNotice, Reason: "The session was deleted."}, nil); err != nil {
			return err
		}
		return tx.DeleteSession(id)
	})
}
