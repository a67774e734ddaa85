package store

import (
	"cmp"
	"errors"
	"slices"

	"github.com/umpirehq/umpire"
)

// A Head is an event at which a stream ended at some time: the hash there stands for
// every event of the stream up to it.
type Head struct {
	Session umpire.SessionID `json:"session_id,omitempty"` // "" is the stream of no session
	Events  int64            `json:"events"`               // of the stream, up to this one
	Seq     int64            `json:"seq"`
	Hash    string           `json:"hash"`
}

// Heads returns where each stream ended among the events up to seq, in the order of
// the sessions' ids. What it says of events up to the Horizon stays true for good.
func (t Events) Heads(seq int64) ([]Head, error) {
	var heads []Head
	err := t.rows(func(scan scanner) error {
		var h Head
		err := scan(&h.Session, &h.Events, &h.Seq, &h.Hash)
		heads = append(heads, h)
		return err
	}, `SELECT e.session_id, e.session_seq, e.seq, e.hash FROM streams AS s
		JOIN events AS e ON e.seq = (SELECT MAX(seq) FROM events WHERE session_id = s.session_id AND seq <= $1)`, seq)
	// Databases sort text differently.
	slices.SortFunc(heads, func(a, b Head) int { return cmp.Compare(a.Session, b.Session) })
	return heads, err
}

// Holds reports whether the timeline has the event of a head, at its place in its
// stream. A chain without breaks up to there is then the one that the head was
// taken of.
func (t Events) Holds(h Head) (bool, error) {
	found := Head{Seq: h.Seq}
	err := t.row([]any{&found.Session, &found.Events, &found.Hash}, `SELECT session_id, session_seq, hash FROM events
		WHERE seq = $1`, h.Seq)
	if errors.Is(err, umpire.ErrNotFound) {
		return false, nil
	}
	return found == h, err
}

// Horizon returns the greatest Seq below which no event can still appear. An event
// is below the horizon a moment after its commit; Changed is closed again then.
func (t Events) Horizon() (int64, error) {
	if t.begin != "" && t.lost == nil {
		if err := t.store.herald.Prepare(t.ctx, t.conn.Conn); err != nil {
			return 0, t.markLost(err)
		}
	}
	if err := t.ready(); err != nil {
		return 0, err
	}
	seq, err := t.store.herald.Horizon(t.work(), t.conn.Conn)
	if err != nil {
		return 0, t.markLost(err)
	}
	return seq, nil
}
