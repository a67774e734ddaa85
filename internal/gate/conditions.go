package gate

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/judge"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/policy"
)

// conditions are the inputs to a decision about a session's calls. They are read from the store
// beforehand because deciding takes time and must not hold up the store's writer.
type conditions struct {
	policy.Conditions // without Tighten and Sandbox, which are made for each call

	session     umpire.Session
	project     *Project
	settings    config.Settings
	tighten     []umpire.Rule       // of the client and of hooks
	confinement *umpire.Confinement // nil for an agent that runs its calls its own way
	byTicket    bool                // the call came with a ticket, to be tried or run
}

// canTry reports whether the runner of the call is able to try it first.
func (cond *conditions) canTry() bool {
	return cond.byTicket || cond.confinement != nil && cond.confinement.Trials
}

// conditionsAhead prefetches the rows for readConditions. It returns the query for the grants.
func (be *backend) conditionsAhead(tx *store.Tx, id umpire.SessionID, call umpire.CallID) store.GrantQuery {
	q := store.GrantQuery{Session: id, Call: call, Now: be.now()}
	tx.Ahead(func() { _, _ = tx.Sessions.Get(id); _, _ = tx.Grants.List(q); _, _ = tx.Workspaces.GetOf(id) })
	return q
}

// readConditions reads the conditions in force in a session, including the once grants of a call if
// q names one.
func (ps *Projects) readConditions(tx *store.Tx, q store.GrantQuery) (*conditions, error) {
	id := q.Session
	s, err := tx.Sessions.Get(id)
	if err != nil {
		return nil, umpire.Errorf("session %q: %w", id, err)
	}
	if s.State == umpire.SessionOver {
		return nil, umpire.Errorf("session %q has ended: %w", id, umpire.ErrState)
	}
	if err := inherit(tx, &s); err != nil {
		return nil, err
	}
	rows, err := tx.Grants.List(q)
	if err != nil {
		return nil, err
	}
	w, err := tx.Workspaces.GetOf(id)
	if err != nil {
		return nil, err
	}
	if rows, err = inheritTasks(tx, s, q, rows); err != nil {
		return nil, err
	}
	rows = bindTasks(rows)
	cond := &conditions{session: s}
	cond.Headless, cond.AllowAll, cond.ShortForm = s.Headless, w.AllowAll, store.ShortForm
	for i := range rows {
		cond.Grants = append(cond.Grants, ps.openGrant(&rows[i]))
	}
	return cond, nil
}

// completeConditions adds the conditions from the project's files.
func (ps *Projects) completeConditions(cond *conditions) error {
	p, err := ps.projectOf(cond.session.Root, cond.session.AddDirs)
	if err != nil {
		return umpire.Errorf("project of session %q: %w", cond.session.ID, err)
	}
	cond.settings, cond.project = p.settings, p
	if cond.session.Project != "" && !p.IsPinned(&cond.session) {
		// If another project is at this root by now, its calls must not use the grants of the pinned project.
		ofProject := func(g umpire.Grant) bool { return g.Scope == umpire.ScopeProject }
		cond.AllowAll, cond.Grants = false, slices.DeleteFunc(cond.Grants, ofProject)
	}
	// Two settings take effect at once, even in open sessions: enforcing again, and the files that
	// profiles may edit. A profile that is missing or unreadable by now keeps its last limits.
	now, err := ps.settingsOf(cond.session.Root)
	cond.settings.WarnOnly = cond.settings.WarnOnly && err == nil && now.WarnOnly
	profiles := map[string]policy.Profile{}
	maps.Copy(profiles, p.settings.Profiles)
	maps.Copy(profiles, now.Profiles)
	cond.Mode = effectiveMode(&cond.session, &p.settings)
	cond.Profile, err = profileOf(cond.session.Profile, profiles)
	if cond.Profile != nil && cond.session.External && cond.session.Profile == "" {
		// A host has its own tools: the profile's list covers those of the built-in agent.
		cond.Profile = cond.Profile.EditLimit()
	}
	return err
}

// effectiveMode returns the session's mode, but ask once auto has refused too often, and the
// administrator's mode if the session's is looser.
func effectiveMode(s *umpire.Session, settings *config.Settings) umpire.Mode {
	if !settings.Most.Permits(s.Mode) {
		return *settings.Most.Mode
	}
	if s.Mode == umpire.ModeAuto && degraded(s, settings) {
		return umpire.ModeAsk
	}
	return s.Mode
}

// AutoAvailable reports whether auto mode may answer by itself in a session: after too many
// refusals it asks.
func AutoAvailable(s *umpire.Session, settings *config.Settings) bool { return !degraded(s, settings) }

func degraded(s *umpire.Session, settings *config.Settings) bool {
	return settings.MaxDenialsInRow > 0 && s.DenialsInRow >= settings.MaxDenialsInRow ||
		settings.MaxDenials > 0 && s.Denials >= settings.MaxDenials
}

// mainProfile is the default profile.
const mainProfile = "main"

func profileOf(name string, profiles map[string]policy.Profile) (*policy.Profile, error) {
	name = cmp.Or(name, mainProfile)
	if p, ok := profiles[name]; ok {
		return &p, nil
	}
	if name == mainProfile {
		return nil, nil
	}
	return nil, umpire.Errorf("profile %q: the configuration has no such agent: %w", name, umpire.ErrInvalid)
}

// cloneOf returns a key that differs between clones of one project: the git directory, which
// worktrees share, or the root without git.
func cloneOf(s *umpire.Session) string { return cmp.Or(s.GitDir, s.Root) }

// enforce returns the decision that the gate acts on.
func enforce(s *config.Settings, d umpire.Decision) umpire.Decision {
	if s.WarnOnly {
		return judge.WarnOnly(d)
	}
	return d
}

// Check decides a call and stores nothing. If the call names a session, the session's conditions
// apply, otherwise the configuration.
func (g *Gate) Check(ctx context.Context, call umpire.Call) (umpire.Decision, error) {
	if call.Dir != "" || call.Session == "" {
		if err := checkDir("cwd", call.Dir); err != nil {
			return umpire.Decision{}, err
		}
	}
	if call.Session == "" {
		settings, err := g.projects.settingsOf(call.Dir)
		if err != nil {
			return umpire.Decision{}, err
		}
		q := policy.Query{Call: call, Conditions: policy.Conditions{Mode: settings.Mode}}
		return enforce(&settings, g.projects.Decide("", q)), nil
	}
	cond, err := readIn(ctx, g.be.view, func(tx *store.Tx) (*conditions, error) {
		return g.projects.readConditions(tx, g.be.conditionsAhead(tx, call.Session, ""))
	})
	if err != nil {
		return umpire.Decision{}, err
	}
	if err := g.projects.completeConditions(cond); err != nil {
		return umpire.Decision{}, err
	}
	call.Dir = cmp.Or(call.Dir, cond.session.Dir)
	return g.projects.decide(cond, call), nil
}
