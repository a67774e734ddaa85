package storetest

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// A Forger changes the timeline in a SQLite file like its owner could: it disables the
// triggers meanwhile and leaves the file consistent.
type Forger struct{ File string }

// Rewrite changes every event and recomputes all hashes. The events are those in the
// file, in order.
func (f Forger) Rewrite(ctx context.Context, events []umpire.Event, change func(*umpire.Event)) error {
	last := map[umpire.SessionID]string{}
	var statements []statement
	for _, e := range events {
		change(&e)
		hash, err := store.Chain(last[e.Session], e)
		if err != nil {
			return err
		}
		statements = append(statements,
			statement{`UPDATE events SET actor = ?, risk_level = ?, prev_hash = ?, hash = ?
				WHERE seq = ?`, []any{e.Actor, e.Risk, last[e.Session], hash, e.Seq}},
			statement{`UPDATE streams SET hash = ? WHERE session_id = ?`, []any{hash, string(e.Session)}})
		last[e.Session] = hash
	}
	return f.run(ctx, statements)
}

// Remove deletes events, which must be the last of their sessions, and all references to
// them.
func (f Forger) Remove(ctx context.Context, where string) error {
	return f.Run(ctx, `DELETE FROM events WHERE `+where,
		`DELETE FROM streams WHERE session_id <> '' AND session_id NOT IN (SELECT session_id FROM events)`,
		`UPDATE streams SET
			session_seq = (SELECT COUNT(*) FROM events AS e WHERE e.session_id = streams.session_id),
			seq = COALESCE((SELECT MAX(seq) FROM events AS e WHERE e.session_id = streams.session_id), 0),
			hash = COALESCE((SELECT hash FROM events AS e WHERE e.session_id = streams.session_id ORDER BY seq DESC
				LIMIT 1), '')`)
}

// Run executes statements.
func (f Forger) Run(ctx context.Context, texts ...string) error {
	var statements []statement
	for _, text := range texts {
		statements = append(statements, statement{text: text})
	}
	return f.run(ctx, statements)
}

type statement struct {
	text string
	args []any
}

func (f Forger) run(ctx context.Context, statements []statement) error {
	db, err := sql.Open("sqlite", f.File)
	if err != nil {
		return err
	}
	defer db.Close()
	triggers, err := triggersOf(ctx, db)
	if err != nil {
		return err
	}
	var all []statement
	for name := range triggers {
		all = append(all, statement{text: `DROP TRIGGER "` + name + `"`})
	}
	all = append(all, statements...)
	for _, text := range triggers {
		all = append(all, statement{text: text})
	}
	for _, s := range all {
		if _, err := db.ExecContext(ctx, s.text, s.args...); err != nil {
			return fmt.Errorf("%s: %w", s.text, err)
		}
	}
	return nil
}

// triggersOf returns the statements that created the triggers, by name.
func triggersOf(ctx context.Context, db *sql.DB) (map[string]string, error) {
	rows, err := db.QueryContext(ctx, `SELECT name, sql FROM sqlite_master WHERE type = 'trigger'`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]string{}
	for rows.Next() {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			return nil, err
		}
		all[name] = text
	}
	return all, rows.Err()
}
