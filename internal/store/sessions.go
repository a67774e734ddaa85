package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// Sessions accesses the conversations of agents.
type Sessions struct{ *transaction }

// sessionValues and sessionFields are in the order of sessionColumns.

func sessionValues(s *umpire.Session) []any {
	var blocked any
	if s.Blocked != nil {
		blocked = jsonOf(s.Blocked)
	}
	var runners any
	if len(s.Runners) > 0 {
		runners = jsonOf(s.Runners)
	}
	return []any{
		string(s.ID), null(s.Project), s.Root, s.Dir, s.Worktree, s.GitDir, s.IsRoot, string(s.Parent),
		string(s.ForkedFrom), s.Agent, s.Profile, textOf(s.Mode), s.AllowBypass, s.Headless, s.External,
		jsonOf(s.AddDirs), string(s.State), string(s.Permission), s.Pending, blocked, s.Epoch,
		s.Runner, micros(s.LeaseUntil), s.Turn, s.DenialsInRow, s.Denials, stamp(s.CreatedAt), stamp(s.ActiveAt),
		micros(s.EndedAt), runners,
	}
}

func sessionFields(s *umpire.Session) []any {
	return []any{
		&s.ID, nullTo[umpire.ProjectID]{&s.Project}, &s.Root, &s.Dir, &s.Worktree, &s.GitDir, &s.IsRoot, &s.Parent,
		&s.ForkedFrom, &s.Agent, &s.Profile, textTo{&s.Mode}, &s.AllowBypass, &s.Headless, &s.External,
		jsonTo{&s.AddDirs}, &s.State, &s.Permission, &s.Pending, jsonTo{&s.Blocked}, &s.Epoch,
		&s.Runner, moment{&s.LeaseUntil}, &s.Turn, &s.DenialsInRow, &s.Denials, moment{&s.CreatedAt},
		moment{&s.ActiveAt}, moment{&s.EndedAt}, jsonTo{&s.Runners},
	}
}

// placeholders returns "$from, ... $to".
func placeholders(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		if i > from {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "$%d", i)
	}
	return b.String()
}

// savedColumns are the columns that change during a session.
const savedColumns = `project_root, working_dir, worktree, git_dir, is_root_session, parent, forked_from,
	agent, profile, mode, allow_bypass, headless, external, add_dirs, state, permission_state, pending, blocked_reason,
		epoch,
	runner, lease_until, turn, denials_in_row, denials, created_at, active_at, ended_at, runners`

const sessionColumns = `session_id, project_id, ` + savedColumns

var (
	insertSession = `INSERT INTO sessions (` + sessionColumns + `)
		VALUES (` + placeholders(1, 30) + `) ON CONFLICT DO NOTHING`
	saveSession = `UPDATE sessions SET (` + savedColumns + `) = (` + placeholders(3, 30) + `)
		WHERE session_id = $1 AND (project_id IS NULL OR project_id = $2)`
)

const selectSession = `SELECT ` + sessionColumns + ` FROM sessions WHERE session_id = $1`

// Lock returns a session and prevents other transactions from writing it until this one
// ends. It is the first step of every change of a session.
func (t Sessions) Lock(id umpire.SessionID) (umpire.Session, error) {
	read := func() (s umpire.Session, err error) {
		err = t.row(sessionFields(&s), selectSession+t.store.dialect.ForUpdate, string(id))
		return s, err
	}
	// A transaction that changes a session also appends to its timeline.
	t.Ahead(func() { _, _ = read(); _ = Events(t).lockEnd(id) })
	s, err := read()
	if err == nil && t.pipelined() {
		err = Events(t).lockEnd(id)
	}
	if err == nil {
		t.locked[id] = s.Project
	}
	return s, err
}

// Get returns a session.
func (t Sessions) Get(id umpire.SessionID) (umpire.Session, error) {
	var s umpire.Session
	err := t.row(sessionFields(&s), selectSession, string(id))
	return s, err
}

// List returns sessions, latest activity first.
func (t Sessions) List(q SessionQuery) ([]umpire.Session, error) {
	var all []umpire.Session
	query, args := sessionQuery(&q)
	err := t.rows(func(scan scanner) error {
		var s umpire.Session
		err := scan(sessionFields(&s)...)
		if len(q.Runners) == 0 || slices.ContainsFunc(s.AllRunners(), isIn(q.Runners)) {
			all = append(all, s)
		}
		return err
	}, query, args...)
	return all, err
}

// sessionQuery contains only the requested conditions, because no index helps with a
// condition that may be true for all rows.
func sessionQuery(q *SessionQuery) (query string, args []any) {
	var where strings.Builder
	where.WriteString(`SELECT ` + sessionColumns + ` FROM sessions WHERE 1 = 1`)
	and := func(condition string, values ...any) {
		for _, v := range values {
			args = append(args, v)
			condition = strings.Replace(condition, "?", fmt.Sprintf("$%d", len(args)), 1)
		}
		where.WriteString(" AND " + condition)
	}
	if q.Project != "" {
		and("project_id = ?", string(q.Project))
	}
	if q.Held {
		and("external = FALSE AND runner <> '' AND state <> 'ended'")
	}
	if len(q.Runners) > 0 {
		runners := make([]any, len(q.Runners))
		for i, r := range q.Runners {
			runners[i] = r
		}
		// Few sessions have more runners, and List checks those itself.
		and("state <> 'ended' AND (external IN (FALSE, TRUE) AND runner <> '' AND state <> 'ended' AND runner IN (?"+
			strings.Repeat(", ?", len(runners)-1)+") OR runners IS NOT NULL AND state <> 'ended')", runners...)
	}
	if q.Parent != "" {
		and("parent = ?", string(q.Parent))
	}
	if q.Root != "" {
		and("project_root = ? AND is_root_session AND NOT external AND state <> 'ended'", q.Root)
	}
	if q.Agent != "" {
		and("agent = ?", q.Agent)
	}
	if q.After != "" {
		and("(active_at, session_id) < (?, ?)", stamp(q.AfterActiveAt), string(q.After))
	}
	args = append(args, limit(q.Limit))
	fmt.Fprintf(&where, " ORDER BY active_at DESC, session_id DESC LIMIT $%d", len(args))
	return where.String(), args
}

func isIn(names []string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

// CountOpen returns how many sessions of a runner are open, and the total of their
// pending questions.
func (t Sessions) CountOpen(runner string) (sessions, pending int, err error) {
	err = t.row([]any{&sessions, &pending},
		`SELECT COUNT(*), COALESCE(SUM(pending), 0) FROM sessions WHERE runner = $1 AND state <> 'ended'`, runner)
	return sessions, pending, err
}

// LastRoot returns a project's root session with the latest activity.
func (t Sessions) LastRoot(project umpire.ProjectID) (umpire.SessionID, error) {
	var id umpire.SessionID
	err := t.row([]any{&id}, `SELECT session_id FROM project_last_root_session WHERE project_id = $1`, string(project))
	return id, err
}

// Insert adds a session. If it has a project, both indexes of the project are updated in
// the same statement.
func (t Sessions) Insert(s umpire.Session) error {
	return t.insert(umpire.Errorf("session %q", s.ID), insertSession, sessionValues(&s)...)
}

// Save stores a session. The indexes of its project follow. A session without a project
// can get one, but a project never changes.
func (t Sessions) Save(s umpire.Session) error {
	if project, locked := t.locked[s.ID]; locked && project == s.Project {
		about := umpire.Errorf("session %q", s.ID)
		return t.modify(about, conflict("it has changed"), saveSession, sessionValues(&s)...)
	}
	var project umpire.ProjectID
	err := t.modifyRow([]any{nullTo[umpire.ProjectID]{&project}}, saveSession+" RETURNING project_id",
		sessionValues(&s)...)
	if errors.Is(err, umpire.ErrNotFound) {
		if _, err = t.Get(s.ID); err == nil {
			err = t.conflict("it belongs to another project than %q", s.Project)
		}
	}
	if err == nil && project != s.Project {
		_, err = t.exec(`UPDATE sessions SET project_id = $2 WHERE session_id = $1`, string(s.ID), string(s.Project))
	}
	if err != nil {
		return umpire.Errorf("session %q: %w", s.ID, err)
	}
	return nil
}

// Delete removes a session and all its rows except its events. The project's next latest
// root session replaces it in the index.
func (t Sessions) Delete(id umpire.SessionID) error {
	n, err := t.exec(`DELETE FROM sessions WHERE session_id = $1`, string(id))
	if err != nil {
		return umpire.Errorf("session %q: %w", id, err)
	}
	if n == 0 {
		return umpire.ErrNotFound
	}
	t.pending = true
	return nil
}

// Workspaces accesses the settings of clones of projects.
type Workspaces struct{ *transaction }

// Get returns the settings of a clone of a project. If there are none, it returns the row
// of a clone without settings beside the error.
func (t Workspaces) Get(p umpire.ProjectID, gitDir string) (WorkspaceRow, error) {
	w := WorkspaceRow{Project: p, GitDir: gitDir}
	err := t.row([]any{&w.AllowAll, textOrNil[umpire.Mode, *umpire.Mode]{&w.Mode}},
		`SELECT allow_all, mode FROM workspaces WHERE project_id = $1 AND git_dir = $2`, string(p), gitDir)
	return w, err
}

// GetOf returns the settings of the clone that a session uses. If there are none, it
// returns an empty row and no error.
func (t Workspaces) GetOf(s umpire.SessionID) (WorkspaceRow, error) {
	var w WorkspaceRow
	err := t.row([]any{&w.Project, &w.GitDir, &w.AllowAll, textOrNil[umpire.Mode, *umpire.Mode]{&w.Mode}},
		cloneOfSession+`SELECT w.project_id, w.git_dir, w.allow_all, w.mode FROM workspaces AS w
			JOIN clone ON w.project_id = clone.project_id AND w.git_dir = clone.git_dir`, string(s))
	if errors.Is(err, umpire.ErrNotFound) {
		err = nil
	}
	return w, err
}

// Save stores the settings of a clone of a project.
func (t Workspaces) Save(w WorkspaceRow) error {
	_, err := t.exec(`INSERT INTO workspaces (project_id, git_dir, allow_all, mode) VALUES ($1, $2, $3, $4)
		ON CONFLICT (project_id, git_dir) DO UPDATE SET allow_all = excluded.allow_all, mode = excluded.mode`,
		string(w.Project), w.GitDir, w.AllowAll, optional(w.Mode))
	return err
}
