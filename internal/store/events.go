package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/batch"
)

// Events accesses the timeline.
type Events struct{ *transaction }

const (
	insertEvent = `INSERT INTO events (session_id, session_seq, at, kind, project_id, batch_id, call_id, request_id,
		agent, tool, permission_state, permission_type, risk_level, blocked_reason, verdict, reason, reason_code,
		rule_id, scope, actor, accesses, data, prev_hash, hash)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
		$13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24)`
	insertNumbered = insertEvent + ` RETURNING seq`
)

// Append adds an event to the timeline. It returns the stored event: with its seq, linked
// to the previous event of its session, its time in UTC and microseconds, and canonical
// data.
func (t Events) Append(e umpire.Event) (umpire.Event, error) {
	e, values, err := t.link(e)
	if err == nil {
		err = t.modifyRow([]any{&e.Seq}, insertNumbered, values...)
	}
	if err != nil {
		return e, umpire.Errorf("event %s: %w", e.Kind, err)
	}
	return e, nil
}

// Add is like Append for callers that do not need the seq.
func (t Events) Add(e umpire.Event) error {
	about := umpire.Errorf("event %s", e.Kind)
	_, values, err := t.link(e)
	if err != nil {
		return umpire.Errorf("%w: %w", about, err)
	}
	return t.modify(about, nil, insertEvent, values...)
}

// storable normalizes an event for storage.
func storable(e umpire.Event) (umpire.Event, error) {
	e.Seq, e.PrevHash, e.Hash = 0, "", ""
	e.At = e.At.UTC().Truncate(time.Microsecond)
	e.Project, e.Session, e.Batch, e.Call, e.Request = cleanText(e.Project), cleanText(e.Session), cleanText(e.Batch),
		cleanText(e.Call), cleanText(e.Request)
	e.Kind, e.Agent, e.Tool, e.State, e.Type = cleanText(e.Kind), cleanText(e.Agent), cleanText(e.Tool),
		cleanText(e.State), cleanText(e.Type)
	e.Risk, e.Reason, e.Code, e.Rule, e.Actor = cleanText(e.Risk), cleanText(e.Reason), cleanText(e.Code),
		cleanText(e.Rule), cleanText(e.Actor)
	if len(e.Data) == 0 {
		e.Data = nil
		return e, nil
	}
	data, err := batch.Canonical(cleanText(e.Data))
	if err != nil {
		return e, umpire.Errorf("data: %w", err)
	}
	e.Data = data
	return e, nil
}

// link chains an event to the end of its stream, and returns it with the values of its row.
func (t Events) link(e umpire.Event) (linked umpire.Event, values []any, err error) {
	if e, err = storable(e); err != nil {
		return e, nil, err
	}
	if err := t.lockEnd(e.Session); err != nil {
		return e, nil, err
	}
	end := t.ends[e.Session]
	e.PrevHash = end.hash
	if e.Hash, err = chain(e.PrevHash, &e); err != nil {
		return e, nil, err
	}
	t.ends[e.Session] = link{n: end.n + 1, hash: e.Hash}
	return e, eventValues(&e, end.n+1), nil
}

// lockEnd reads the end of a stream and locks its row, so a stream has one writer at a
// time. It skips streams that this transaction has already locked.
func (t Events) lockEnd(s umpire.SessionID) error {
	if _, known := t.ends[s]; known {
		return nil
	}
	var end link
	err := t.row([]any{&end.n, &end.hash}, `SELECT session_seq, hash FROM streams
		WHERE session_id = $1`+t.store.dialect.ForUpdate, string(s))
	if err != nil && !errors.Is(err, umpire.ErrNotFound) {
		return err
	}
	if !t.looking {
		t.ends[s] = end
	}
	return nil
}

func eventValues(e *umpire.Event, n int64) []any {
	var blocked, accesses any
	if e.Blocked != nil {
		blocked = jsonOf(e.Blocked)
	}
	if len(e.Accesses) > 0 {
		accesses = jsonOf(e.Accesses)
	}
	return []any{
		string(e.Session), n, e.At.UnixMicro(), string(e.Kind), string(e.Project), string(e.Batch), string(e.Call),
		string(e.Request), e.Agent, e.Tool, string(e.State), string(e.Type), e.Risk, blocked, optional(e.Verdict),
		e.Reason, string(e.Code), string(e.Rule), optional(e.Scope), e.Actor, accesses, raw(e.Data), e.PrevHash, e.Hash,
	}
}

const selectEvents = `SELECT seq, session_id, at, kind, project_id, batch_id, call_id, request_id, agent, tool,
		permission_state, permission_type, risk_level, blocked_reason, verdict, reason, reason_code, rule_id, scope,
		actor, accesses, data, prev_hash, hash
	FROM events WHERE seq > $1`

func eventFields(e *umpire.Event) []any {
	return []any{
		&e.Seq, &e.Session, moment{&e.At}, &e.Kind, &e.Project, &e.Batch, &e.Call, &e.Request, &e.Agent, &e.Tool,
		&e.State, &e.Type, &e.Risk, jsonTo{&e.Blocked}, textOrNil[umpire.Verdict, *umpire.Verdict]{&e.Verdict},
		&e.Reason, &e.Code, &e.Rule, textOrNil[umpire.Scope, *umpire.Scope]{&e.Scope}, &e.Actor, jsonTo{&e.Accesses},
		jsonTo{&e.Data}, &e.PrevHash, &e.Hash,
	}
}

// List returns stored events in the order of their seq. If several processes write, an
// event with a smaller seq may still appear: only events up to Horizon are complete.
func (t Events) List(f umpire.Filter) ([]umpire.Event, error) {
	return t.query(f, math.MaxInt64, "", f.Limit)
}

// ListLast returns the last f.Last events that match a filter, up to a sequence number
// and in order.
func (t Events) ListLast(f umpire.Filter, upTo int64) ([]umpire.Event, error) {
	events, err := t.query(f, upTo, " DESC", f.Last)
	slices.Reverse(events)
	return events, err
}

// query reads events up to a sequence number. order is "" or " DESC".
func (t Events) query(f umpire.Filter, upTo int64, order string, count int) ([]umpire.Event, error) {
	query, args := selectEvents, []any{f.After}
	where := func(condition string, value any) {
		args = append(args, value)
		query += fmt.Sprintf(condition, len(args))
	}
	if f.Session != "" {
		where(` AND session_id = $%d`, string(f.Session))
	}
	if f.Project != "" {
		where(` AND project_id = $%d`, string(f.Project))
	}
	if f.Before > 0 {
		where(` AND seq < $%d`, f.Before)
	}
	if upTo < math.MaxInt64 {
		where(` AND seq <= $%d`, upTo)
	}
	where(` ORDER BY seq`+order+` LIMIT $%d`, limit(count))
	var all []umpire.Event
	err := t.rows(func(scan scanner) error {
		var e umpire.Event
		err := scan(eventFields(&e)...)
		all = append(all, e)
		return err
	}, query, args...)
	return all, err
}

// ListBefore returns the last events of a project with a seq below seq, latest first. If
// seq is 0, it starts at the end.
func (t Events) ListBefore(p umpire.ProjectID, seq int64, count int) ([]umpire.Event, error) {
	return t.query(umpire.Filter{Project: p, Before: seq}, math.MaxInt64, " DESC", count)
}

// GetLast returns the kind and batch of a session's last event about a batch, or about a batch
// whose id continues with a dash. If there is no such event, the error matches umpire.ErrNotFound.
func (t Events) GetLast(s umpire.SessionID, id umpire.BatchID) (e umpire.Event, err error) {
	longer := string(id) + "-"
	err = t.row([]any{&e.Kind, &e.Batch}, `SELECT kind, batch_id FROM events
		WHERE session_id = $1 AND (batch_id = $2 OR substr(batch_id, 1, $3) = $4) ORDER BY seq DESC LIMIT 1`,
		string(s), string(id), utf8.RuneCountInString(longer), longer)
	return e, err
}

// verifyPage is the number of events verified at a time.
const verifyPage = 1000

// Verify checks the whole timeline in one snapshot and returns its breaks. It detects a
// truncated end through the row with the end of each stream, but not if that row was
// changed too.
//
// A pruned session is not a break if accept returns "" for the pruning event and the
// removed events. A nil accept accepts no prunings.
func (s *Store) Verify(ctx context.Context, accept func(*umpire.Event, *Pruned) (problem string)) ([]Break, error) {
	var breaks []Break
	err := s.View(ctx, func(tx *Tx) (err error) {
		v := verifier{last: map[umpire.SessionID]link{}, pruned: map[int64]bool{}}
		if err := tx.Prunings.beginStreams(&v, accept); err != nil {
			return err
		}
		for e, err := range tx.Events.all() {
			if err != nil {
				return err
			}
			if err := v.see(&e); err != nil {
				return err
			}
		}
		err = tx.Events.checkEnds(&v)
		breaks = v.breaks
		return err
	})
	return breaks, err
}

// all yields all events, in pages.
func (t Events) all() iter.Seq2[umpire.Event, error] {
	return func(yield func(umpire.Event, error) bool) {
		f := umpire.Filter{Limit: verifyPage}
		for {
			page, err := t.List(f)
			if err != nil {
				yield(umpire.Event{}, err)
				return
			}
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
				f.After = e.Seq
			}
			if len(page) < verifyPage {
				return
			}
		}
	}
}

// checkEnds compares the ends of the streams with the recorded ones.
func (t Events) checkEnds(v *verifier) error {
	err := t.rows(func(scan scanner) error {
		var session umpire.SessionID
		var end link
		if err := scan(&session, &end.n, &end.hash); err != nil {
			return err
		}
		if last := v.last[session]; last.n != end.n || last.hash != end.hash {
			v.breaks = append(v.breaks, Break{Session: session, Seq: last.seq, Problem: fmt.Sprintf(
				"the session has %d events, and %d were written: what came after was cut off, or some are missing",
				last.n, end.n)})
		}
		delete(v.last, session)
		return nil
	}, `SELECT session_id, session_seq, hash FROM streams ORDER BY session_id`)
	if err != nil {
		return err
	}
	for session, last := range v.last {
		v.breaks = append(v.breaks, Break{Session: session, Seq: last.seq,
			Problem: "nothing says where the session's events end"})
	}
	return nil
}
