package gate

import (
	"cmp"
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

// exitPlanTool is the tool by which an agent leaves plan mode.
const exitPlanTool = "ExitPlanMode"

// exitPlanRule asks about leaving plan mode, in sessions whose mode the gate switches. An agent
// that runs its calls itself has its own plan mode and question, and a sub-agent shares its
// parent's mode.
var exitPlanRule = umpire.Rule{
	ID: "exit-plan", Action: umpire.Ask, Tool: exitPlanTool, Source: umpire.SourceSession,
	Says: "Leaves plan mode: the planned files may be changed from then on, and shown commands run once",
}

// tightenFor returns the rules for one call in addition to those of the files.
func (cond *conditions) tightenFor(call *umpire.Call) []umpire.Rule {
	rule := exitPlanRule
	switch {
	case call.Tool != exitPlanTool || cond.session.Mode != umpire.ModePlan || cond.session.External:
		return cond.tighten
	case cond.session.Parent != "":
		rule.Action, rule.Says = umpire.Deny,
			"A sub-agent stays in plan mode with its parent: tell that agent what you plan"
	}
	return append(slices.Clip(cond.tighten), rule)
}

func leavesPlan(s *umpire.Session, tool string) bool {
	return tool == exitPlanTool && s.Mode == umpire.ModePlan && !s.External && s.Parent == ""
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
