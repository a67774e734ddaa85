package store

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/umpirehq/umpire"
)

// A Head is an event that ended a stream at some time. Its hash covers every event of the
// stream up to it.
type Head struct {
	Session umpire.SessionID `json:"session_id,omitempty"` // "" is the stream without a session
	Events  int64            `json:"events"`               // in the stream, up to this one
	Seq     int64            `json:"seq"`
	Hash    string           `json:"hash"`
}

// Heads returns the end of each stream among the events up to seq, sorted by session id.
// The result for events up to the Horizon never changes, even if sessions are pruned.
func (t Events) Heads(seq int64) ([]Head, error) {
	heads := map[umpire.SessionID]Head{}
	take := func(scan scanner) error {
		var h Head
		err := scan(&h.Session, &h.Events, &h.Seq, &h.Hash)
		heads[h.Session] = h
		return err
	}
	if err := t.headsOfPruned(seq, heads); err != nil {
		return nil, err
	}
	err := t.rows(take, `SELECT session_id, session_seq, seq, hash FROM streams AS s
		WHERE seq <= $1 AND seq < (SELECT MAX(p.seq) FROM prunings AS p WHERE p.session_id = s.session_id)`, seq)
	if err != nil {
		return nil, err
	}
	err = t.rows(take, `SELECT e.session_id, e.session_seq, e.seq, e.hash FROM streams AS s
		JOIN events AS e ON e.seq = (SELECT MAX(seq) FROM events WHERE session_id = s.session_id AND seq <= $1)`, seq)
	// Databases sort text differently.
	return slices.SortedFunc(maps.Values(heads), func(a, b Head) int { return cmp.Compare(a.Session, b.Session) }), err
}

// headsOfPruned adds the ends of streams that continued after seq and were pruned since.
func (t Events) headsOfPruned(seq int64, heads map[umpire.SessionID]Head) error {
	before := map[umpire.SessionID]int64{}
	return Prunings(t).each(func(p *Pruning) {
		if n := p.trace.upTo(seq); n > 0 {
			heads[p.Session] = p.trace.head(p.Session, before[p.Session], n)
		}
		before[p.Session] += int64(p.trace.len())
	}, `JOIN streams AS s ON s.session_id = p.session_id WHERE s.seq > $1`, seq)
}

// Holds reports whether the timeline has the event of a head at its place in its stream,
// or had it when its session was pruned. A chain without breaks up to there is then the
// one that the head was taken from.
func (t Events) Holds(h Head) (bool, error) {
	found := Head{Seq: h.Seq}
	err := t.row([]any{&found.Session, &found.Events, &found.Hash}, `SELECT session_id, session_seq, hash FROM events
		WHERE seq = $1`, h.Seq)
	if errors.Is(err, umpire.ErrNotFound) {
		found = Head{}
		before := int64(0)
		err = Prunings(t).each(func(p *Pruning) {
			if n := p.trace.upTo(h.Seq); n > 0 && p.trace.seq(n-1) == h.Seq {
				found = p.trace.head(p.Session, before, n)
			}
			before += int64(p.trace.len())
		}, `WHERE p.session_id = $1`, string(h.Session))
	}
	return found == h, err
}

// FirstHash returns the hash of the first event that the timeline ever had, or "" if its
// seq is above this one.
func (t Events) FirstHash(seq int64) (string, error) {
	var first Head
	err := t.row([]any{&first.Seq, &first.Hash}, `SELECT seq, hash FROM events ORDER BY seq LIMIT 1`)
	if errors.Is(err, umpire.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var pruned trace
	err = t.row([]any{(*[]byte)(&pruned)}, `SELECT substr(trace, 1, 40) FROM prunings ORDER BY 1 LIMIT 1`)
	if err != nil && !errors.Is(err, umpire.ErrNotFound) {
		return "", err
	}
	if len(pruned) == traceEntry && pruned.seq(0) < first.Seq {
		first.Seq, first.Hash = pruned.seq(0), pruned.hash(0)
	}
	if first.Seq > seq {
		return "", nil
	}
	return first.Hash, nil
}

// Horizon returns the greatest seq up to which no event can still appear. An event gets
// below the horizon a moment after its commit; Changed is then closed again.
func (t Events) Horizon() (int64, error) {
	if t.begin != "" && t.lost == nil {
		if err := t.store.herald.Prepare(t.ctx, t.conn.Conn); err != nil {
			return 0, t.markLost(err)
		}
	}
	if err := t.ready(); err != nil {
		return 0, err
	}
	if _, err := t.flush(t.work()); err != nil {
		return 0, err
	}
	t.counts.Trips++
	seq, err := t.store.herald.Horizon(t.work(), t.conn.Conn)
	if err != nil {
		return 0, t.markLost(err)
	}
	return seq, nil
}
