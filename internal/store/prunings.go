package store

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"sort"
	"time"

	"github.com/umpirehq/umpire"
)

// Prunings remove whole sessions with their events. What stays of each is a row, an event of no session that says
// so, and the end of its stream, from which the session goes on if it comes back.
type Prunings struct{ *transaction }

// Pruned says which events of a session were removed: all that it had.
type Pruned struct {
	Session  umpire.SessionID `json:"session_id"`
	Events   int64            `json:"events"`
	FirstSeq int64            `json:"first_seq"`
	LastSeq  int64            `json:"last_seq"`
	LastHash string           `json:"last_hash"`
	LastAt   time.Time        `json:"last_at"`
	Trace    string           `json:"trace"` // the SHA-256, in hex, of the seq and the hash of each of them
}

// A Pruning is the removal of a session.
type Pruning struct {
	Pruned

	Project umpire.ProjectID
	seq     int64 // of the event that says so
	trace   trace
}

// A trace has, for each event that was removed, its seq and its hash. With it a checkpoint that was taken in the
// middle of a session can be compared after the session was removed.
type trace []byte

const traceEntry = 8 + sha256.Size

func (t trace) len() int { return len(t) / traceEntry }

func (t trace) seq(i int) int64 { return int64(binary.BigEndian.Uint64(t[i*traceEntry:])) } //nolint:gosec // was one

func (t trace) hash(i int) string { return hex.EncodeToString(t[i*traceEntry+8 : (i+1)*traceEntry]) }

// head is where the stream of a session ended at the nth of the events, after those that were removed before.
func (t trace) head(s umpire.SessionID, before int64, n int) Head {
	return Head{Session: s, Events: before + int64(n), Seq: t.seq(n - 1), Hash: t.hash(n - 1)}
}

// upTo is how many of the events have a seq up to this one.
func (t trace) upTo(seq int64) int {
	return sort.Search(t.len(), func(i int) bool { return t.seq(i) > seq })
}

// describe fills in what the trace tells: of one that is damaged, no events.
func (p *Pruning) describe() {
	n := p.trace.len()
	if n == 0 || len(p.trace)%traceEntry != 0 {
		return
	}
	for i := 1; i < n; i++ {
		if p.trace.seq(i) <= p.trace.seq(i-1) {
			return
		}
	}
	p.Events, p.FirstSeq, p.LastSeq, p.LastHash = int64(n), p.trace.seq(0), p.trace.seq(n-1), p.trace.hash(n-1)
	sum := sha256.Sum256(p.trace)
	p.Trace = hex.EncodeToString(sum[:])
}

// whereOver finds streams whose events are all older than a time, of sessions that nobody uses. A stream with events of
// several projects stays, where an id came again elsewhere: the event that says so is of one project.
const whereOver = ` FROM streams AS st JOIN events AS e ON e.seq = st.seq LEFT JOIN sessions AS s
		ON s.session_id = st.session_id
	WHERE st.session_id <> '' AND e.at < $1
		AND NOT EXISTS (SELECT 1 FROM events AS o
			WHERE o.session_id = st.session_id AND o.project_id <> e.project_id AND o.project_id <> '')
		AND (s.session_id IS NULL OR s.active_at < $1 AND COALESCE(s.lease_until, 0) < $1)
		AND NOT EXISTS (SELECT 1 FROM sessions_in_use AS u WHERE u.session_id = st.session_id)`

// ListOver returns the sessions in which nothing has happened since before and that nobody needs, the oldest first,
// with their Events and LastAt. It leaves out sessions with more than maxEvents events and returns at most count; 0
// sets no limit. A session may have been deleted before.
func (t Prunings) ListOver(before time.Time, maxEvents, count int) ([]Pruned, error) {
	var all []Pruned
	err := t.rows(func(scan scanner) error {
		var p Pruned
		err := scan(&p.Session, &p.Events, moment{&p.LastAt})
		all = append(all, p)
		return err
	}, `SELECT session_id, n, at FROM (SELECT st.session_id, st.seq, e.at,
			(SELECT COUNT(*) FROM events AS c WHERE c.session_id = st.session_id) AS n`+whereOver+`) AS o
		WHERE n <= $2 ORDER BY seq LIMIT $3`, stamp(before), limit(maxEvents), limit(count))
	return all, err
}

// Prepare returns what would be removed with a session. Nobody else writes the session until the transaction ends.
// The error matches umpire.ErrNotFound when it is not over.
func (t Prunings) Prepare(s umpire.SessionID, before time.Time) (Pruning, error) {
	p := Pruning{Pruned: Pruned{Session: s}}
	if _, err := Sessions(t).Lock(s); err != nil && !errors.Is(err, umpire.ErrNotFound) {
		return p, err
	}
	err := t.row([]any{&p.LastHash}, `SELECT hash FROM streams WHERE session_id = $1`+t.store.dialect.ForUpdate,
		string(s))
	if err == nil {
		err = t.row([]any{moment{&p.LastAt}, &p.Project},
			`SELECT e.at, e.project_id`+whereOver+` AND st.session_id = $2`, stamp(before), string(s))
	}
	if err != nil {
		return p, err
	}
	err = t.rows(func(scan scanner) error {
		var seq int64
		var hash string
		if err := scan(&seq, &hash); err != nil {
			return err
		}
		p.trace = binary.BigEndian.AppendUint64(p.trace, uint64(seq)) //nolint:gosec // a seq is above 0
		sum, err := hex.DecodeString(hash)
		p.trace = append(p.trace, sum...)
		return err
	}, `SELECT seq, hash FROM events WHERE session_id = $1 ORDER BY seq`, string(s))
	p.describe()
	return p, err
}

// Insert removes what was prepared, after the event of a seq, which says so.
func (t Prunings) Insert(p *Pruning, seq int64) error {
	t.pending = true
	return t.insert(errors.New("pruning"), `INSERT INTO prunings (session_id, seq, trace) VALUES ($1, $2, $3)`,
		string(p.Session), seq, []byte(p.trace))
}

// Last is the last event that told of a pruning, the zero event when there is none.
func (t Prunings) Last() (e umpire.Event, err error) {
	err = t.row(eventFields(&e), selectEvents+` AND seq = (SELECT MAX(seq) FROM prunings)`, 0)
	if errors.Is(err, umpire.ErrNotFound) {
		err = nil
	}
	return e, err
}

// each calls f for every pruning, those of one session in their order.
func (t Prunings) each(f func(*Pruning), where string, args ...any) error {
	return t.rows(func(scan scanner) error {
		var p Pruning
		err := scan(&p.Session, &p.seq, (*[]byte)(&p.trace))
		if err == nil {
			f(&p)
		}
		return err
	}, `SELECT p.session_id, p.seq, p.trace FROM prunings AS p `+where+` ORDER BY p.session_id, p.seq`, args...)
}

// beginStreams lets each stream begin where the events end that were pruned of it.
func (t Prunings) beginStreams(v *verifier, accept func(*umpire.Event, *Pruned) (problem string)) error {
	var all []Pruning
	err := t.each(func(p *Pruning) {
		p.describe()
		p.trace = nil
		all = append(all, *p)
	}, "")
	for i := 0; i < len(all) && err == nil; i++ {
		p := &all[i]
		var e umpire.Event
		err = t.row(eventFields(&e), selectEvents+` AND seq = $2`, p.seq-1, p.seq)
		if errors.Is(err, umpire.ErrNotFound) {
			err = nil
		}
		last := v.last[p.Session]
		if problem := p.doubt(&e, last.seq, accept); problem != "" {
			v.breaks = append(v.breaks, Break{Session: p.Session, Seq: p.seq, Problem: problem})
			continue
		}
		v.pruned[p.seq] = true
		v.last[p.Session] = link{seq: p.LastSeq, n: last.n + p.Events, hash: p.LastHash}
	}
	return err
}

// doubt says why a pruning, after which e came and before which the session was pruned up to a seq, does not count.
func (p *Pruning) doubt(e *umpire.Event, upTo int64, accept func(*umpire.Event, *Pruned) (problem string)) string {
	switch {
	case e.Kind != umpire.EventPruned || e.Session != "":
		return "its events were pruned, and no event says so"
	case p.Events == 0 || p.FirstSeq <= upTo || p.LastSeq >= p.seq:
		return "what was pruned of it cannot be all that it had"
	case accept == nil:
		return "its events were pruned, and nobody can tell by whom"
	}
	if problem := accept(e, &p.Pruned); problem != "" {
		return "its events were pruned, and " + problem
	}
	return ""
}
