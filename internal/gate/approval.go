package gate

import (
	"context"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/policy"
)

// fileTools are the tools that work on files.
var fileTools = []string{"Read", "Write", "Edit", "MultiEdit", "NotebookEdit", "LS", "Glob", "Grep", "filesystem-edit",
	"filesystem-edit_search"}

// grantsFor returns the grants that an approval makes: one for this exact call and, if its scope is
// the session, a wider one.
func (be *backend) grantsFor(
	s *umpire.Session, settings *config.Settings, a *umpire.Answer, call *umpire.Call, d *umpire.Decision,
) ([]store.GrantRow, error) {
	exact := policy.Exact(*call)
	row := func(scope umpire.Scope, grant umpire.Grant) store.GrantRow {
		r := be.newGrant(s, scope, a.Actor, grant)
		r.Request = a.Request
		return r
	}
	once := row(umpire.ScopeOnce, umpire.Grant{Tool: call.Tool, Exact: exact})
	once.Call, once.MaxUses = call.ID, 1
	grants := []store.GrantRow{once}
	if a.Scope == umpire.ScopeSession {
		lasting, err := be.sessionGrants(a, call, d)
		if err != nil {
			return nil, err
		}
		for _, grant := range lasting {
			grant.ExpiresAt = a.ExpiresAt
			grants = append(grants, row(umpire.ScopeSession, grant))
		}
	}
	if s.Mode != umpire.ModeAsk {
		for _, host := range settings.HostsOnce(d) {
			grants = append(grants, row(umpire.ScopeSession, umpire.Grant{
				Tool: "WebFetch", Match: umpire.Match{Domain: host}, Network: true,
			}))
		}
	}
	if s.Mode == umpire.ModeAuto && settings.Remember > 0 && exact != "" {
		remembered := row(umpire.ScopeProject, umpire.Grant{
			Tool: call.Tool, Exact: exact, Remembered: true, ExpiresAt: be.now().Add(settings.Remember),
		})
		remembered.Session = ""
		grants = append(grants, remembered)
	}
	for i := range grants {
		kept, err := be.keepExact(grants[i].ID, grants[i].Grant.Exact)
		if err != nil {
			return nil, err
		}
		grants[i].Grant.Exact = kept
	}
	return grants, nil
}

// newGrant returns the row of a grant that somebody gives in a session.
func (be *backend) newGrant(s *umpire.Session, scope umpire.Scope, by string, grant umpire.Grant) store.GrantRow {
	grant.Scope = scope
	return store.GrantRow{
		ID: newGrantID(), Scope: scope, Project: s.Project, GitDir: cloneOf(s), Session: s.ID, Grant: grant,
		Created: be.now(), By: by,
	}
}

// sessionGrants returns the grants of an approval for the session.
func (be *backend) sessionGrants(a *umpire.Answer, call *umpire.Call, d *umpire.Decision) ([]umpire.Grant, error) {
	if err := policy.CheckScope(a.Scope, d.ReasonCode, nil); err != nil {
		return nil, invalid("scope", "%w", err)
	}
	if a.Rule != "" {
		r, err := policy.ParseShort(a.Rule)
		if err != nil {
			return nil, umpire.Errorf("rule: %w: %w", err, umpire.ErrInvalid)
		}
		return []umpire.Grant{{Tool: r.Tool, Match: r.Match}}, nil
	}
	about := *d
	if a.Width != umpire.WidthDefault {
		about.Suggestions = be.offeredRules(call, d, a.Width)
	}
	grants := policy.SessionGrants(call, &about, a.Width)
	switch {
	case len(grants) > 0:
	case policy.CoversExact(call.Tool, a.Width):
		return nil, umpire.Errorf("scope: the call can only be approved once: %w", umpire.ErrInvalid)
	case a.Width != umpire.WidthDefault:
		return nil, errWidth(a.Width)
	}
	return grants, nil
}

func errWidth(width umpire.Width) error {
	return umpire.Errorf("width: no rule of width %s can cover this call: %w", width, umpire.ErrInvalid)
}

// If another agent's command fails in a trial for lack of network access, it has ended before a
// person answers, and only its agent can run it again. So the approval is stored: the next trial of
// exactly the same call in this session may connect to the destinations on the card, once.

// keepNetwork is the lifetime of such an approval.
const keepNetwork = 15 * time.Minute

// againText is the result of a call whose next run may use the network.
const againText = "A person lets this command reach the hosts it wanted, once: run the same command again."

// grantNetwork returns the grants for an answer about the network.
func (r *resolution) grantNetwork(be *backend, call *umpire.Call, d *umpire.Decision) ([]store.GrantRow, error) {
	row := be.newGrant(&r.conditions.session, umpire.ScopeSession, r.answer.Actor, umpire.Grant{
		Tool: call.Tool, Network: true, Shown: shownDigest(call, d, readCode(d, be.maskText), nil),
		Reach: r.card.Trial.Effects.Wanted(), ExpiresAt: be.now().Add(keepNetwork),
	})
	row.Call, row.Request, row.MaxUses = call.ID, r.answer.Request, 1
	var err error
	row.Grant.Exact, err = be.keepExact(row.ID, policy.Exact(*call))
	return []store.GrantRow{row}, err
}

// findNetwork returns the grant that gives a call's trial network access, or nil.
func (l *pendingStart) findNetwork(ctx context.Context, be *backend) (found *store.GrantRow, err error) {
	s, exact := &l.conditions.session, store.ShortForm(policy.Exact(l.judged.call))
	rows, err := readIn(ctx, be.view, func(tx *store.Tx) ([]store.GrantRow, error) {
		return tx.Grants.List(store.GrantQuery{Session: s.ID, Now: be.now()})
	})
	for i := range rows {
		grant := be.openGrant(&rows[i])
		if grant.Network && grant.Exact == exact && exact != "" && grant.Shown == l.base && rows[i].Session == s.ID {
			found = &rows[i]
		}
	}
	return found, err
}

// checkRuleFits rejects a rule that does not match the call it was given for: it would allow calls
// the person never saw. To test it, the rule is applied to the call as a deny rule.
func (g *Gate) checkRuleFits(cond *conditions, a *umpire.Answer, call *umpire.Call) error {
	if a.Rule == "" {
		return nil
	}
	r, err := policy.ParseShort(a.Rule)
	if err != nil {
		return umpire.Errorf("rule: %w: %w", err, umpire.ErrInvalid)
	}
	r.ID, r.Source, r.Action = "answer", umpire.SourceFlag, umpire.Deny
	tried := *cond
	tried.tighten = []umpire.Rule{r}
	d := g.projects.decide(&tried, *call)
	speaks := func(by umpire.Reason) bool {
		return by.Verdict == umpire.Deny && by.Rule != nil && by.Rule.ID == r.ID && by.Rule.Source == r.Source
	}
	if slices.ContainsFunc(d.Reasons, speaks) {
		return nil
	}
	return invalid("rule", "%s does not apply to this call", policy.FormatShort(r))
}

// maxFolderGrant is the longest lifetime of a rule for reading an outside folder.
const maxFolderGrant = 30 * 24 * time.Hour

// lastingRules returns the rules that an approval for the project or for good adds.
func (be *backend) lastingRules(a *umpire.Answer, call *umpire.Call, d *umpire.Decision) ([]umpire.Rule, error) {
	if a.Scope != umpire.ScopeProject && a.Scope != umpire.ScopeGlobal {
		return nil, nil
	}
	if err := policy.CheckScope(a.Scope, d.ReasonCode, nil); err != nil {
		return nil, invalid("scope", "%w", err)
	}
	if a.Rule != "" {
		r, err := policy.ParseShort(a.Rule)
		if err != nil {
			return nil, umpire.Errorf("rule: %w: %w", err, umpire.ErrInvalid)
		}
		r.Action, r.ExpiresAt = umpire.Allow, a.ExpiresAt
		return []umpire.Rule{r}, nil
	}
	if d.Verdict == umpire.Allow {
		return nil, nil // a rule came in meanwhile
	}
	width := a.Width
	if width == umpire.WidthDefault {
		width = umpire.WidthExact
	}
	set := be.offeredRules(call, d, width)
	if len(set) == 0 {
		return nil, errNoRule(d, width)
	}
	if err := policy.CheckScope(a.Scope, d.ReasonCode, set); err != nil {
		return nil, invalid("scope", "%w", err)
	}
	var rules []umpire.Rule
	for _, s := range set {
		r := s.Rule()
		r.ExpiresAt = a.ExpiresAt
		if policy.FolderOutside(&s) {
			latest := be.now().Add(maxFolderGrant)
			if r.ExpiresAt.IsZero() {
				r.ExpiresAt = latest.UTC().Truncate(time.Second)
			} else if r.ExpiresAt.After(latest) {
				return nil, umpire.Errorf("expires_at: a folder outside can be approved for 30 days at most: %w",
					umpire.ErrInvalid)
			}
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// errNoRule explains that no rule of the width can cover the call, and names those that can.
func errNoRule(d *umpire.Decision, width umpire.Width) error {
	for _, s := range d.Suggestions {
		if s.Width != width {
			return umpire.Errorf("width: no rule of width %s can cover this call, but one of width %s can: %w",
				width, s.Width, umpire.ErrInvalid)
		}
	}
	return umpire.Errorf("scope: no rule can cover this call; approve it once or for the session: %w",
		umpire.ErrInvalid)
}
