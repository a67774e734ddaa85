package store

import (
	"errors"
	"time"

	"github.com/umpirehq/umpire"
)

// Grants accesses the remembered approvals.
type Grants struct{ *transaction }

const grantColumns = `grant_id, scope, project_id, git_dir, session_id, call_id, request_id, remembered, tool, exact,
	covers,
	created_at, expires_at, max_uses, uses, revoked_at, created_by`

func grantFields(g *GrantRow) []any {
	return []any{
		&g.ID, textTo{&g.Scope}, &g.Project, &g.GitDir, nullTo[umpire.SessionID]{&g.Session}, &g.Call, &g.Request,
		&g.Grant.Remembered, &g.Grant.Tool, &g.Grant.Exact, coversTo{g},
		moment{&g.Created}, moment{&g.Grant.ExpiresAt}, &g.MaxUses, &g.Uses, moment{&g.Revoked}, &g.By,
	}
}

// covers is the content of the column with this name.
type covers struct {
	umpire.Match
	umpire.Cap

	Network bool     `json:"network,omitempty"`
	Shown   string   `json:"shown,omitempty"`
	Reach   []string `json:"reach,omitempty"`
	Task    string   `json:"task,omitempty"`
	Text    string   `json:"task_text,omitempty"`
}

// A coversTo reads the column into a grant.
type coversTo struct{ to *GrantRow }

// Scan implements sql.Scanner.
func (s coversTo) Scan(value any) error {
	var c covers
	err := jsonTo{&c}.Scan(value)
	g := &s.to.Grant
	g.Match, g.Cap, g.Network, g.Shown, g.Reach = c.Match, c.Cap, c.Network, c.Shown, c.Reach
	g.Task, s.to.TaskText = c.Task, c.Text
	return err
}

// Insert adds a grant in force. The row's scope and expiry must match its grant.
func (t Grants) Insert(g GrantRow) error {
	return t.insert(umpire.Errorf("grant %q", g.ID), `INSERT INTO grants (`+grantColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9,
			$10, $11, $12, $13, $14, $15, $16, $17) ON CONFLICT DO NOTHING`,
		g.ID, textOf(g.Scope), string(g.Project), g.GitDir, null(g.Session), string(g.Call), string(g.Request),
		g.Grant.Remembered, g.Grant.Tool, g.Grant.Exact,
		jsonOf(covers{
			g.Grant.Match, g.Grant.Cap, g.Grant.Network, g.Grant.Shown, g.Grant.Reach, g.Grant.Task, g.TaskText,
		}),
		stamp(g.Created), micros(g.Grant.ExpiresAt), g.MaxUses, g.Uses, micros(g.Revoked), g.By)
}

// The queries for grants: all of a project, or those in force.
const (
	// cloneOfSession selects the clone of a session's project, in the same statement as the rows that depend on it.
	cloneOfSession = `WITH clone AS (SELECT COALESCE(project_id, '') AS project_id,
		COALESCE(NULLIF(git_dir, ''), project_root) AS git_dir FROM sessions AS s WHERE session_id = $1) `

	grantsOfProject = `SELECT ` + grantColumns + ` FROM grants WHERE project_id = $1 ORDER BY created_at, grant_id`
	// Each part uses its own index, which matters once there are many grants.
	grantsInForce = cloneOfSession + `SELECT ` + grantColumns + ` FROM (
			SELECT * FROM grants WHERE session_id = $1 AND scope <> 'once'
			UNION ALL SELECT * FROM grants WHERE session_id = $1 AND call_id = $2 AND $2 <> '' AND scope = 'once'
			UNION ALL SELECT * FROM grants WHERE session_id IS NULL AND project_id = (SELECT project_id FROM clone)
				AND git_dir = (SELECT git_dir FROM clone)
			UNION ALL SELECT * FROM grants WHERE session_id IS NULL AND scope = 'global'
				AND NOT (project_id = (SELECT project_id FROM clone) AND git_dir = (SELECT git_dir FROM clone))
		) AS g
		WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3) AND (max_uses = 0 OR uses < max_uses)
		ORDER BY created_at, grant_id`
)

// List returns grants, oldest first. A global grant is in force in every project.
func (t Grants) List(q GrantQuery) ([]GrantRow, error) {
	var all []GrantRow
	each := func(scan scanner) error {
		var g GrantRow
		err := scan(grantFields(&g)...)
		g.Grant.ID, g.Grant.Scope = g.ID, g.Scope
		all = append(all, g)
		return err
	}
	if q.Project != "" {
		return all, t.rows(each, grantsOfProject, string(q.Project))
	}
	err := t.rows(each, grantsInForce, string(q.Session), string(q.Call), bound(q.Now))
	return all, err
}

// GetOnce returns the id of the last once grant of a call that was in force when the question was answered, or "".
func (t Grants) GetOnce(s umpire.SessionID, c umpire.CallID, answered umpire.RequestID) (id string, err error) {
	err = t.row([]any{&id}, `SELECT grant_id FROM grants
		WHERE session_id = $1 AND call_id = $2 AND scope = 'once' AND revoked_at IS NULL
			AND (expires_at IS NULL OR expires_at > (SELECT at FROM answers WHERE request_id = $3))
			AND (max_uses = 0 OR uses < max_uses)
		ORDER BY created_at DESC, grant_id DESC LIMIT 1`, string(s), string(c), string(answered))
	if errors.Is(err, umpire.ErrNotFound) {
		err = nil
	}
	return id, err
}

// Use counts one use of a grant. It fails with ErrConflict if the grant is used up,
// revoked or missing.
func (t Grants) Use(id string) error {
	return t.modify(umpire.Errorf("grant %q", id), conflict("it is used up or revoked"), `UPDATE grants
		SET uses = uses + 1 WHERE grant_id = $1 AND revoked_at IS NULL AND (max_uses = 0 OR uses < max_uses)`, id)
}

// Revoke revokes a grant permanently. It fails with ErrConflict if the grant is already
// revoked.
func (t Grants) Revoke(id string, at time.Time) error {
	n, err := t.exec(`UPDATE grants SET revoked_at = $2 WHERE grant_id = $1 AND revoked_at IS NULL`, id, micros(at))
	if err != nil {
		return umpire.Errorf("grant %q: %w", id, err)
	}
	if n > 0 {
		return nil
	}
	var found string
	if err := t.row([]any{&found}, `SELECT grant_id FROM grants WHERE grant_id = $1`, id); err != nil {
		return umpire.Errorf("grant %q: %w", id, err)
	}
	return t.conflict("grant %q: it is revoked already", id)
}

// ForgetRemembered revokes the remembered answers of a clone of a project and returns
// their number.
func (t Grants) ForgetRemembered(project umpire.ProjectID, gitDir string, at time.Time) (int, error) {
	n, err := t.exec(`UPDATE grants SET revoked_at = $3
		WHERE project_id = $1 AND git_dir = $2 AND remembered
			AND revoked_at IS NULL`, string(project), gitDir, micros(at))
	return int(n), err
}
