package gate

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/policy"
)

// grants manages remembered approvals.
type grants struct {
	*Projects

	pending func(context.Context, umpire.PendingQuery) ([]umpire.Pending, error)
	resolve func(ctx context.Context, a umpire.Answer, task string) (umpire.Batch, error)
}

// List lists the grants in the project of a folder, oldest first: the grants in force, then
// allowAll and the trust in the clone's code.
func (gs *grants) List(ctx context.Context, dir string) ([]umpire.GrantStatus, error) {
	p, err := gs.Project(dir)
	if err != nil {
		return nil, err
	}
	return readIn(ctx, gs.view, func(tx *store.Tx) ([]umpire.GrantStatus, error) { return gs.listGrants(tx, p) })
}

func (gs *grants) listGrants(tx *store.Tx, p *Project) ([]umpire.GrantStatus, error) {
	clone := cmp.Or(p.GitDir, p.Root)
	rows, err := tx.Grants.List(store.GrantQuery{Project: p.ID})
	if err != nil {
		return nil, err
	}
	all, over := []umpire.GrantStatus{}, map[umpire.SessionID]bool{}
	for i := range rows {
		row := &rows[i]
		usedUp := row.MaxUses > 0 && row.Uses >= row.MaxUses && row.Grant.Task == "" // a task shows all that it used
		if row.GitDir != clone || !row.Revoked.IsZero() || usedUp ||
			!row.Grant.ExpiresAt.IsZero() && !row.Grant.ExpiresAt.After(gs.now()) {
			continue
		}
		ended, known := over[row.Session]
		if !known && row.Session != "" {
			s, err := tx.Sessions.Get(row.Session)
			if err != nil {
				return nil, err
			}
			ended = s.State == umpire.SessionOver
			over[row.Session] = ended
		}
		if !ended {
			all = append(all, gs.grantStatus(row))
		}
	}
	w, err := tx.Workspaces.Get(p.ID, clone)
	if err != nil && !errors.Is(err, umpire.ErrNotFound) {
		return nil, err
	}
	if w.AllowAll {
		all = append(all, umpire.GrantStatus{ID: umpire.AllowAllID, Kind: umpire.GrantAllowAll})
	}
	ledger := gs.config.Code()
	if since := ledger.Since(&p.Bounds); !since.IsZero() {
		all = append(all, umpire.GrantStatus{ID: umpire.CodeID, Kind: umpire.GrantCode, CreatedAt: since})
	}
	return all, nil
}

// grantStatus returns a grant for display, with its secrets masked.
func (sec secrets) grantStatus(row *store.GrantRow) umpire.GrantStatus {
	kind := umpire.GrantKind(row.Scope.String())
	switch {
	case row.Grant.Remembered:
		kind = umpire.GrantRemembered
	case row.Grant.Network:
		kind = umpire.GrantNetwork
	case row.TaskText != "":
		kind = umpire.GrantTask
	}
	return umpire.GrantStatus{
		ID: row.ID, Kind: kind, Session: row.Session, Call: row.Call, Request: row.Request, Tool: row.Grant.Tool,
		Exact: sec.shownExact(row), Match: row.Grant.Match, Cap: row.Grant.Cap,
		Task: row.Grant.Task, TaskText: row.TaskText,
		Source: row.By, CreatedAt: row.Created, ExpiresAt: row.Grant.ExpiresAt, Uses: row.Uses, MaxUses: row.MaxUses,
	}
}

// shownExact returns the call that a grant is for, with its secrets masked. An unreadable grant
// covers nothing, and is shown that way.
func (sec secrets) shownExact(row *store.GrantRow) string {
	if row.Grant.Exact == "" {
		return ""
	}
	if exact := sec.openGrant(row).Exact; exact != "" {
		return sec.maskText(exact)
	}
	return "(unreadable)"
}

// Revoke revokes grants, and returns them.
func (gs *grants) Revoke(ctx context.Context, r umpire.Revocation) ([]umpire.GrantStatus, error) {
	if (r.ID == "") == !r.All {
		return nil, invalid("grant_id", "name one grant, or all")
	}
	p, err := gs.Project(r.Dir)
	if err != nil {
		return nil, err
	}
	var revoked []umpire.GrantStatus
	err = gs.update(ctx, func(tx *store.Tx) error {
		all, err := gs.listGrants(tx, p)
		if err != nil {
			return err
		}
		if revoked, err = selectGrants(all, &r); err != nil {
			return err
		}
		for i := range revoked {
			if err := gs.revokeGrant(tx, p, &revoked[i], r.By); err != nil {
				return err
			}
		}
		return nil
	})
	return revoked, err
}

// selectGrants finds the grants to revoke: by id, or by an unambiguous prefix of it.
func selectGrants(all []umpire.GrantStatus, r *umpire.Revocation) ([]umpire.GrantStatus, error) {
	if r.All {
		return all, nil
	}
	var found []umpire.GrantStatus
	whole := slices.ContainsFunc(all, func(s umpire.GrantStatus) bool { return s.ID == r.ID })
	for _, s := range all {
		if s.ID == r.ID || !whole && strings.HasPrefix(s.ID, r.ID) && (s.Task == "" || s.Task == s.ID) {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 1:
		for _, s := range all {
			if s.Task == found[0].ID && s.ID != s.Task { // ending a task ends its grants
				found = append(found, s)
			}
		}
		return found, nil
	case 0:
		return nil, umpire.Errorf("grant %q: %w", r.ID, umpire.ErrNotFound)
	}
	return nil, invalid("grant_id", "%q matches %d grants", r.ID, len(found))
}

func (gs *grants) revokeGrant(tx *store.Tx, p *Project, s *umpire.GrantStatus, by umpire.Actor) error {
	e := umpire.Event{
		At: gs.now(), Kind: umpire.EventGrantRevoked, Project: p.ID, Session: s.Session, Call: s.Call,
		Request: s.Request, Tool: s.Tool, Actor: by.Name,
	}
	if err := gs.endGrant(tx, p, s); err != nil {
		return err
	}
	return tx.Events.Add(gs.record(e, signed(grantDetail(s), by)))
}

func (gs *grants) endGrant(tx *store.Tx, p *Project, s *umpire.GrantStatus) error {
	switch s.Kind {
	case umpire.GrantAllowAll:
		w, err := tx.Workspaces.Get(p.ID, cmp.Or(p.GitDir, p.Root))
		if err != nil {
			return err
		}
		w.AllowAll = false
		return tx.Workspaces.Save(w)
	case umpire.GrantCode:
		ledger := gs.config.Code()
		_, err := ledger.Forget(&p.Bounds)
		return err
	case umpire.GrantOnce, umpire.GrantSession, umpire.GrantProject, umpire.GrantGlobal, umpire.GrantRemembered,
		umpire.GrantNetwork, umpire.GrantTask:
	}
	return tx.Grants.Revoke(s.ID, gs.now())
}

// grantDetail returns the event detail for a grant.
func grantDetail(s *umpire.GrantStatus) map[string]any {
	detail := map[string]any{"grant_id": s.ID, "kind": s.Kind, "remembered": s.Kind == umpire.GrantRemembered}
	if s.Task != "" {
		detail["task_id"] = s.Task
	}
	if s.Tool != "" {
		detail["rule"] = policy.FormatShort(umpire.Rule{Tool: s.Tool, Match: s.Match})
	}
	if s.Exact != "" {
		detail["exact"] = s.Exact
	}
	if s.Cap != (umpire.Cap{}) {
		detail["max_consequence"], detail["options"] = s.MaxConsequence, s.Options
	}
	if !s.ExpiresAt.IsZero() {
		detail["expires_at"] = s.ExpiresAt
	}
	return detail
}

// openedWith marks the grants from a session's opening rules.
const openedWith = "--allowed-tools"

// openingGrants returns grants for the allow rules of a session's opening.
func (ss *sessions) openingGrants(s *umpire.Session, short []string) ([]store.GrantRow, error) {
	var rows []store.GrantRow
	for _, text := range short {
		r, err := policy.ParseShort(text)
		if err != nil {
			return nil, invalid("allowed_tools", "%v", err)
		}
		r.Action = umpire.Allow
		if err := policy.Validate(r); err != nil {
			return nil, invalid("allowed_tools", "%s: %v", text, err)
		}
		rows = append(rows, ss.newGrant(s, umpire.ScopeSession, openedWith, umpire.Grant{
			Standing: true, Tool: r.Tool, Match: r.Match, Cap: r.Cap,
		}))
	}
	return rows, nil
}

// addOpeningGrants stores the grants of a session's opening.
func (o *outcome) addOpeningGrants(rows []store.GrantRow) {
	for i := range rows {
		o.addWrite(func(tx *store.Tx) error { return tx.Grants.Insert(rows[i]) })
		status := o.grantStatus(&rows[i])
		o.append(umpire.Event{
			Kind: umpire.EventGrantCreated, Tool: rows[i].Grant.Tool, Scope: new(rows[i].Scope), Actor: openedWith,
		}, grantDetail(&status))
	}
}
