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

// Prunings removes whole sessions with their events. It leaves a row, an event without a session that reports
// the removal, and the end of the stream, from which the session continues if it comes back.
type Prunings struct{ *transaction }

// Pruned describes the removed events of a session, which are all that it had.
type Pruned struct {
	Session  umpire.SessionID `json:"session_id"`
	Events   int64            `json:"events"`
	FirstSeq int64            `json:"first_seq"`
	LastSeq  int64            `json:"last_seq"`
	LastHash string           `json:"last_hash"`
	LastAt   time.Time        `json:"last_at"`
	Trace    string           `json:"trace"` // the SHA-256, in hex, of the seqs and hashes of all of them
}

// A Pruning is the removal of a session.
type Pruning struct {
	Pruned

	Project umpire.ProjectID
	seq     int64 // of the event that reports the pruning
	trace   trace
}

// A trace has the seq and the hash of each removed event. With it, a checkpoint from the
// middle of a session can still be compared after the session was removed.
type trace []byte

const traceEntry = 8 + sha256.Size

func (t trace) len() int { return len(t) / traceEntry }

func (t trace) seq(i int) int64 { return int64(binary.BigEndian.Uint64(t[i*traceEntry:])) } //nolint:gosec // was one

func (t trace) hash(i int) string { return hex.EncodeToString(t[i*traceEntry+8 : (i+1)*traceEntry]) }

// head returns the end of a session's stream at the nth event, after the events that were pruned before.
func (t trace) head(s umpire.SessionID, before int64, n int) Head {
	return Head{Session: s, Events: before + int64(n), Seq: t.seq(n - 1), Hash: t.hash(n - 1)}
}

// upTo returns the number of events with a seq up to this one.
func (t trace) upTo(seq int64) int {
	return sort.Search(t.len(), func(i int) bool { return t.seq(i) > seq })
}

// describe sets the fields that follow from the trace. It leaves them empty if the trace is damaged.
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

// whereOver selects streams of unused sessions whose events are all older than a time. A stream with events
// of several projects (a reused id) stays, because the pruning event belongs to one project.
const whereOver = ` FROM streams AS st JOIN events AS e ON e.seq = st.seq LEFT JOIN sessions AS s
		ON s.session_id = st.session_id
	WHERE st.session_id <> '' AND e.at < $1
		AND NOT EXISTS (SELECT 1 FROM events AS o
			WHERE o.session_id = st.session_id AND o.project_id <> e.project_id AND o.project_id <> '')
		AND (s.session_id IS NULL OR s.active_at < $1 AND COALESCE(s.lease_until, 0) < $1)
		AND NOT EXISTS (SELECT 1 FROM sessions_in_use AS u WHERE u.session_id = st.session_id)`

// ListOver returns the unused sessions without activity since before, oldest first, with
// their Events and LastAt. It skips sessions with more than maxEvents events and returns
// at most count; 0 means no limit. A session may already have been deleted.
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

// Prepare returns the events to be removed with a session, and locks the session until the
// transaction ends. The error matches umpire.ErrNotFound if the session is still needed.
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
		p.trace = binary.BigEndian.AppendUint64(p.trace, uint64(seq)) //nolint:gosec // a seq is positive
		sum, err := hex.DecodeString(hash)
		p.trace = append(p.trace, sum...)
		return err
	}, `SELECT seq, hash FROM events WHERE session_id = $1 ORDER BY seq`, string(s))
	p.describe()
	return p, err
}

// Insert performs a prepared pruning, after appending its event, whose seq is given.
func (t Prunings) Insert(p *Pruning, seq int64) error {
	t.pending = true
	return t.insert(errors.New("pruning"), `INSERT INTO prunings (session_id, seq, trace) VALUES ($1, $2, $3)`,
		string(p.Session), seq, []byte(p.trace))
}

// Last returns the last event about a pruning, or the zero event.
func (t Prunings) Last() (e umpire.Event, err error) {
	err = t.row(eventFields(&e), selectEvents+` AND seq = (SELECT MAX(seq) FROM prunings)`, 0)
	if errors.Is(err, umpire.ErrNotFound) {
		err = nil
	}
	return e, err
}

// each calls f for every pruning, in order for one session.
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

// beginStreams starts each stream after its pruned events.
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

// doubt returns why a pruning does not count. e is its event, and upTo is the last seq that earlier prunings removed.
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
