package store

import (
	"fmt"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
)

// Asks accesses the questions to people.
type Asks struct{ *transaction }

const askColumns = `k.request_id, k.session_id, k.batch_id, k.call_id, k.round, k.args_hash, k.shown_digest, k.shown,
	k.state,
	k.asked_at, k.expires_at`

func askFields(a *AskRow) []any {
	return []any{
		&a.Request, &a.Session, &a.Batch, &a.Call, &a.Round, &a.ArgsHash, &a.ShownDigest, jsonTo{&a.Shown}, &a.State,
		moment{&a.AskedAt}, moment{&a.ExpiresAt},
	}
}

// Insert adds a pending question. A call can have one pending question, and one question
// in each round.
func (t Asks) Insert(a AskRow) error {
	t.pending = true
	return t.insert(umpire.Errorf("question %q", a.Request), `INSERT INTO asks (request_id, session_id, batch_id,
		call_id, round,
			args_hash, shown_digest, shown, state, asked_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING`,
		string(a.Request), string(a.Session), string(a.Batch), string(a.Call), a.Round,
		a.ArgsHash, a.ShownDigest, string(a.Shown), AskPending, stamp(a.AskedAt), micros(a.ExpiresAt))
}

// Get returns a question.
func (t Asks) Get(id umpire.RequestID) (AskRow, error) {
	var a AskRow
	err := t.row(askFields(&a), `SELECT `+askColumns+` FROM asks AS k WHERE k.request_id = $1`, string(id))
	return a, err
}

// List returns questions, oldest first; those of one batch in the order of its calls.
func (t Asks) List(q AskQuery) ([]AskRow, error) {
	var all []AskRow
	err := t.rows(func(scan scanner) error {
		var a AskRow
		err := scan(askFields(&a)...)
		all = append(all, a)
		return err
	}, askQuery(&q), string(q.Session), string(q.Project), bound(q.ExpiredBy), limit(q.Limit), string(q.After))
	return all, err
}

// ListSessions returns the sessions with a pending question, of a project or of every project.
func (t Asks) ListSessions(project umpire.ProjectID) ([]umpire.SessionID, error) {
	var all []umpire.SessionID
	err := t.rows(func(scan scanner) error {
		var id umpire.SessionID
		err := scan(&id)
		all = append(all, id)
		return err
	}, `SELECT DISTINCT k.session_id FROM asks AS k JOIN sessions AS s ON s.session_id = k.session_id
		WHERE k.state = 'pending' AND ($1 = '' OR s.project_id = $1) ORDER BY k.session_id`, string(project))
	return all, err
}

// Limits on the rows that ListCalls reads.
const (
	maxAskedEvents = 5000
	maxAskedCalls  = 100
)

// listAskedCalls starts from the last events of the project, using an index, so it reads a limited number of rows.
var listAskedCalls = fmt.Sprintf(`SELECT e.session_id, c.call_id, c.tool, c.working_dir, c.agent, c.input FROM (
		SELECT seq, session_id, call_id, kind, at FROM events WHERE project_id = $1 ORDER BY seq DESC LIMIT %d
	) AS e CROSS JOIN calls AS c
	WHERE c.session_id = e.session_id AND c.call_id = e.call_id AND e.kind = 'PermissionAsked' AND e.at >= $2
		AND c.input_size = 0 ORDER BY e.seq DESC LIMIT %d`, maxAskedEvents, maxAskedCalls)

// ListCalls returns the last calls of a project that were asked about since some time, each once, with masked
// secrets. It searches the last 5,000 events, returns at most 100 calls and skips calls with a large input.
func (t Asks) ListCalls(project umpire.ProjectID, since time.Time) ([]umpire.Call, error) {
	var all []umpire.Call
	err := t.rows(func(scan scanner) error {
		var c umpire.Call
		err := scan(&c.Session, &c.ID, &c.Tool, &c.Dir, &c.Agent, jsonTo{&c.Input})
		again := func(of umpire.Call) bool { return of.Session == c.Session && of.ID == c.ID }
		if !slices.ContainsFunc(all, again) {
			all = append(all, c)
		}
		return err
	}, listAskedCalls, string(project), stamp(since))
	return all, err
}

// askQuery uses an index for the questions of one session and for late ones, because others may have thousands.
func askQuery(q *AskQuery) string {
	of := `CAST($1 AS TEXT) = ''`
	if q.Session != "" {
		of = `k.session_id = $1`
	}
	if q.ExpiredBy.IsZero() {
		of += ` AND CAST($3 AS BIGINT) = 0`
	} else {
		of += ` AND k.state = 'pending' AND k.expires_at <= $3`
	}
	query := `SELECT ` + askColumns + ` FROM asks AS k
		JOIN calls AS c ON c.session_id = k.session_id AND c.call_id = k.call_id
		JOIN sessions AS s ON s.session_id = k.session_id
		WHERE ` + of + ` AND ($2 = '' OR s.project_id = $2)`
	if !q.All {
		query += ` AND k.state = 'pending'`
	}
	if q.After == "" {
		query += ` AND CAST($5 AS TEXT) = ''`
	} else {
		query += ` AND k.asked_at >= (SELECT asked_at FROM asks WHERE request_id = $5)
			AND (k.asked_at, k.session_id, c.ordinal, k.round) > (SELECT a.asked_at, a.session_id, b.ordinal, a.round
				FROM asks AS a JOIN calls AS b ON b.session_id = a.session_id AND b.call_id = a.call_id
				WHERE a.request_id = $5)`
	}
	return query + ` ORDER BY k.asked_at, k.session_id, c.ordinal, k.round LIMIT $4`
}

// Close ends a pending question as answered or withdrawn. Answers.Insert already closes
// it, so closing it as answered afterwards changes nothing.
func (t Asks) Close(id umpire.RequestID, to string) error {
	n, err := t.exec(`UPDATE asks SET state = $2 WHERE request_id = $1 AND (state = 'pending' OR state = $2
		AND state = 'answered')`,
		string(id), to)
	if err != nil {
		return umpire.Errorf("question %q: %w", id, err)
	}
	t.pending = true
	if n > 0 {
		return nil
	}
	if _, err := t.Get(id); err != nil {
		return umpire.Errorf("question %q: %w", id, err)
	}
	return t.conflict("question %q: it is not pending", id)
}

// Answers accesses people's answers to questions.
type Answers struct{ *transaction }

const answerColumns = `a.request_id, a.args_hash, a.answer, a.scope, a.reason, a.reason_code, a.actor, a.channel,
	a.policy_revision, a.at`

func answerFields(a *AnswerRow) []any {
	return []any{
		&a.Request, &a.ArgsHash, &a.Choice, textTo{&a.Scope}, &a.Reason, &a.Code, &a.Actor, &a.Channel,
		&a.PolicyRevision, moment{&a.At},
	}
}

// Insert answers a pending question and closes it. The first answer wins: an answer to a
// question that is not pending, or about other arguments, fails with ErrConflict.
func (t Answers) Insert(a AnswerRow) error {
	t.pending = true
	// Selecting from the question detects a late answer without a database error; a
	// constraint checks it again.
	return t.insert(umpire.Errorf("answer to question %q", a.Request), `INSERT INTO answers (request_id, args_hash,
		answer, scope,
			reason, reason_code, actor, channel, policy_revision, at)
		SELECT request_id, args_hash, $3, $4, $5, $6, $7, $8, $9, CAST($10 AS BIGINT)
		FROM asks WHERE request_id = $1 AND args_hash = $2 AND state = 'pending'
		ON CONFLICT DO NOTHING`,
		string(a.Request), a.ArgsHash, string(a.Choice), textOf(a.Scope),
		a.Reason, string(a.Code), a.Actor, a.Channel, a.PolicyRevision, stamp(a.At))
}

// Get returns the answer to a question.
func (t Answers) Get(id umpire.RequestID) (AnswerRow, error) {
	var a AnswerRow
	err := t.row(answerFields(&a), `SELECT `+answerColumns+` FROM answers AS a WHERE a.request_id = $1`, string(id))
	return a, err
}
