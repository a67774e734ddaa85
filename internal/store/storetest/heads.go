package storetest

import (
	"math"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// headsStay checks that the ends of streams at an event never change later, and that a
// replaced event is detected.
func headsStay(b *bench) {
	notice := func(s umpire.SessionID) umpire.Event {
		return umpire.Event{Kind: umpire.EventNotice, Session: s, Reason: "why", At: b.later()}
	}
	if got := b.heads(math.MaxInt64); len(got) > 0 {
		b.Errorf("heads of an empty timeline: %v", got)
	}
	// They are sorted by bytes in every database.
	stored := b.append(notice("b"), notice("B"), notice("a"), notice(""), notice("b"), notice("ä"))
	head := func(i int, n int64) store.Head {
		return store.Head{Session: stored[i].Session, Events: n, Seq: stored[i].Seq, Hash: stored[i].Hash}
	}
	early := []store.Head{head(1, 1), head(2, 1), head(0, 1)}
	late := []store.Head{head(3, 1), head(1, 1), head(2, 1), head(4, 2), head(5, 1)}
	for range 2 {
		if got := b.heads(stored[2].Seq); !slices.Equal(got, early) {
			b.Errorf("early heads: %v, want %v", got, early)
		}
		if got := b.heads(stored[5].Seq); !slices.Equal(got, late) {
			b.Errorf("late heads: %v, want %v", got, late)
		}
		b.append(notice("b"), notice("c"), notice(""))
	}
	for _, h := range slices.Concat(early, late) {
		b.holds(h, true)
		for _, other := range []store.Head{
			{Session: h.Session + "x", Events: h.Events, Seq: h.Seq, Hash: h.Hash},
			{Session: h.Session, Events: h.Events + 1, Seq: h.Seq, Hash: h.Hash},
			{Session: h.Session, Events: h.Events, Seq: h.Seq + 1000, Hash: h.Hash},
			{Session: h.Session, Events: h.Events, Seq: h.Seq, Hash: "x"},
		} {
			b.holds(other, false)
		}
	}
}

func (b *bench) heads(seq int64) (heads []store.Head) {
	b.Helper()
	b.view(func(tx *store.Tx) (err error) {
		heads, err = tx.Events.Heads(seq)
		return err
	})
	return heads
}

func (b *bench) holds(h store.Head, want bool) {
	b.Helper()
	b.view(func(tx *store.Tx) error {
		holds, err := tx.Events.Holds(h)
		if holds != want {
			b.Errorf("Holds(%+v) = %v", h, holds)
		}
		return err
	})
}
