package store

import (
	"github.com/umpirehq/umpire"
)

// Messages accesses the messages of conversations.
type Messages struct{ *transaction }

// Append adds a message at the end of a conversation. It ignores the number in m.
func (t Messages) Append(s umpire.SessionID, m MessageRow) error {
	return t.modify(umpire.Errorf("message of session %q", s), umpire.ErrNotFound, `INSERT INTO messages
			(session_id, n, role, batch_id, at, content, content_exact)
		SELECT s.session_id, COALESCE((SELECT MAX(n) FROM messages
			WHERE session_id = $1), 0) + 1, $2, $3, CAST($4 AS BIGINT), $5, $6
		FROM sessions AS s WHERE s.session_id = $1`,
		string(s), m.Role, string(m.Batch), stamp(m.At), []byte(m.Content.Shown), blob(m.Content.Exact))
}

// List returns a conversation in order.
func (t Messages) List(s umpire.SessionID) ([]MessageRow, error) {
	var all []MessageRow
	err := t.rows(func(scan scanner) error {
		var m MessageRow
		err := scan(&m.N, &m.Role, &m.Batch, moment{&m.At}, bytesTo{&m.Content.Shown}, &m.Content.Exact)
		all = append(all, m)
		return err
	}, `SELECT n, role, batch_id, at, content, content_exact FROM messages WHERE session_id = $1 ORDER BY n`, string(s))
	return all, err
}

// Prompts accesses the users' messages that wait to be sent.
type Prompts struct{ *transaction }

// Queue stores a user's message until it is taken, and returns its place in the queue. It
// ignores the number in p.
func (t Prompts) Queue(s umpire.SessionID, p PromptRow) (int64, error) {
	var n int64
	err := t.modifyRow([]any{&n}, `INSERT INTO prompts (session_id, n, at, text, text_exact)
		SELECT s.session_id, COALESCE((SELECT MAX(n) FROM prompts
			WHERE session_id = $1), 0) + 1, CAST($2 AS BIGINT), $3, $4
		FROM sessions AS s WHERE s.session_id = $1
		RETURNING n`,
		string(s), stamp(p.At), []byte(p.Text.Shown), blob(p.Text.Exact))
	if err != nil {
		return 0, umpire.Errorf("prompt of session %q: %w", s, err)
	}
	return n, nil
}

// Take removes the waiting messages and returns them in order.
func (t Prompts) Take(s umpire.SessionID) ([]PromptRow, error) {
	var all []PromptRow
	err := t.rows(func(scan scanner) error {
		var p PromptRow
		err := scan(&p.N, moment{&p.At}, bytesTo{&p.Text.Shown}, &p.Text.Exact)
		all = append(all, p)
		return err
	}, `SELECT n, at, text, text_exact FROM prompts WHERE session_id = $1 ORDER BY n`, string(s))
	if err != nil || len(all) == 0 {
		return all, err
	}
	_, err = t.exec(`DELETE FROM prompts WHERE session_id = $1 AND n <= $2`, string(s), all[len(all)-1].N)
	return all, err
}
