package storetest

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// prune removes a session that has just become unused.
func (b *bench) prune(id umpire.SessionID) (p store.Pruning) {
	b.Helper()
	b.update(func(tx *store.Tx) (err error) {
		if p, err = tx.Prunings.Prepare(id, b.later()); err != nil {
			return err
		}
		e, err := tx.Events.Append(umpire.Event{Kind: umpire.EventPruned, At: b.now})
		return orElse(err, func() error { return tx.Prunings.Insert(&p, e.Seq) })
	})
	return p
}

// over lists the prunable sessions.
func (b *bench) over() (ids []umpire.SessionID) {
	b.Helper()
	b.view(func(tx *store.Tx) error {
		all, err := tx.Prunings.ListOver(b.later(), 0, 0)
		for _, p := range all {
			ids = append(ids, p.Session)
		}
		return err
	})
	return ids
}

func (b *bench) count(table string) (n int) {
	b.Helper()
	if err := b.db.Raw.QueryRowContext(b.Context(), "SELECT COUNT(*) FROM "+table).Scan(&n); err != nil {
		b.Error(err)
	}
	return n
}

// accepting verifies with all prunings accepted, and returns the breaks.
func (b *bench) accepting() []store.Break {
	b.Helper()
	breaks, err := b.store.Verify(b.Context(), func(*umpire.Event, *store.Pruned) string { return "" })
	if err != nil {
		b.Error(err)
	}
	return breaks
}

// prunedWhole checks that only the end of its stream remains of a pruned session, that facts about
// the timeline stay true, and that a session that comes back continues from there.
func prunedWhole(b *bench) {
	b.session("s")
	b.session("other")
	notice := func(s umpire.SessionID) umpire.Event {
		return umpire.Event{Kind: umpire.EventNotice, Session: s, Project: "p", At: b.later()}
	}
	b.append(notice("s"), notice("other"))
	b.play("s", "b", done("last"))
	first := b.events(umpire.Filter{})[0]
	b.append(notice("other"), notice("s"), notice("gone")) // "gone" was deleted long ago
	stored := b.events(umpire.Filter{})
	known := map[int64][]store.Head{math.MaxInt64: b.heads(math.MaxInt64)}
	for _, e := range stored {
		known[e.Seq] = b.heads(e.Seq)
	}
	if got := b.over(); !slices.Equal(got, []umpire.SessionID{"other", "s", "gone"}) {
		b.Fatalf("over: %v", got)
	}
	b.view(func(tx *store.Tx) error {
		small, err := tx.Prunings.ListOver(b.later(), 1, 1)
		if len(small) != 1 || small[0].Session != "gone" || small[0].Events != 1 {
			b.Errorf("over with one event: %v", small)
		}
		return err
	})
	p, gone := b.prune("s"), b.prune("gone")
	if p.Session != "s" || p.Project != "p" || p.LastSeq != stored[len(stored)-2].Seq || gone.Events != 1 {
		b.Errorf("pruned %+v and %+v", p, gone)
	}
	for _, table := range []string{"batches", "calls", "executions", "results", "resumes"} {
		if n := b.count(table); n > 0 {
			b.Errorf("%s has %d rows", table, n)
		}
	}
	if n := b.count("sessions"); n != 1 {
		b.Errorf("%d sessions, want 1", n)
	}
	if left := b.events(umpire.Filter{Session: "s"}); len(left) > 0 {
		b.Errorf("%d events are left", len(left))
	}
	same := func(when string) {
		b.Helper()
		for seq, want := range known {
			got := b.heads(seq)
			if seq == math.MaxInt64 {
				continue // there are more events by now
			}
			if !slices.Equal(got, want) {
				b.Errorf("%s: heads up to %d: %v, want %v", when, seq, got, want)
			}
			for _, h := range want {
				b.holds(h, true)
				h.Hash = "x"
				b.holds(h, false)
			}
		}
		b.view(func(tx *store.Tx) error {
			hash, err := tx.Events.FirstHash(math.MaxInt64)
			if hash != first.Hash {
				b.Errorf("%s: the first event is %q, want %q", when, hash, first.Hash)
			}
			return err
		})
		if breaks := b.accepting(); len(breaks) > 0 {
			b.Errorf("%s: %v", when, breaks)
		}
	}
	same("pruned")
	b.session("s")
	again := b.append(notice("s"), notice("s"))
	if again[0].PrevHash != p.LastHash {
		b.Error("the stream does not go on from where it was pruned")
	}
	same("come again")
	known[again[1].Seq] = b.heads(again[1].Seq)
	known[again[0].Seq] = b.heads(again[0].Seq)
	b.prune("s")
	same("pruned again")
	// Without evidence of their author, all are breaks.
	breaks, err := b.store.Verify(b.Context(), nil)
	if err != nil || len(breaks) < 3 {
		b.Errorf("nobody accepted them: %v, %v", breaks, err)
	}
}

// neededStay checks that needed sessions cannot be pruned.
func neededStay(b *bench) {
	notice := func(s umpire.SessionID) {
		b.append(umpire.Event{Kind: umpire.EventNotice, Session: s, At: b.later()})
	}
	b.reach()
	for _, id := range []umpire.SessionID{"asked", "approved", "executing", "indeterminate"} {
		notice(id)
		if got := b.over(); slices.Contains(got, id) {
			b.Errorf("a session with a call that is %s is over", id)
		}
		if err := b.store.Update(b.Context(), func(tx *store.Tx) error {
			_, err := tx.Prunings.Prepare(id, b.later())
			return err
		}); !is(err, umpire.ErrNotFound) {
			b.Errorf("%s: Prepare: %v", id, err)
		}
	}
	b.session("parent")
	notice("parent")
	b.update(func(tx *store.Tx) error {
		child := umpire.Session{ID: "child", Parent: "parent", Project: "p", ActiveAt: b.later()}
		held := umpire.Session{ID: "held", Project: "p", LeaseUntil: b.now.Add(time.Hour), ActiveAt: b.now}
		return all(func() error { return tx.Sessions.Insert(child) }, func() error { return tx.Sessions.Insert(held) })
	})
	notice("child")
	notice("held")
	got := b.over()
	if slices.Contains(got, "parent") || slices.Contains(got, "held") || !slices.Contains(got, "child") {
		b.Errorf("over: %v", got)
	}
	b.prune("child")
	if got := b.over(); !slices.Contains(got, "parent") {
		b.Errorf("over without its child: %v", got)
	}
	// The id of a deleted session may be reused in another project, which only accepts prunings of its own events.
	of := func(s umpire.SessionID, p umpire.ProjectID) umpire.Event {
		return umpire.Event{Kind: umpire.EventNotice, Session: s, Project: p, At: b.later()}
	}
	b.append(of("moved", "p"), of("moved", "q"), of("found", ""), of("found", "p"), of("lost", "p"), of("lost", ""))
	for id, want := range map[umpire.SessionID]bool{"moved": false, "found": true, "lost": false} {
		if got := slices.Contains(b.over(), id); got != want {
			b.Errorf("the session %q of several projects is over: %t", id, got)
		}
	}
	// Sessions with later activity are not prunable.
	b.view(func(tx *store.Tx) error {
		none, err := tx.Prunings.ListOver(time.UnixMicro(1), 0, 0)
		if len(none) > 0 {
			b.Errorf("over at the beginning: %v", none)
		}
		return err
	})
}

// forgedPrunings checks that claims about events that were not pruned, or still exist, are breaks.
func forgedPrunings(b *bench) {
	for _, id := range []umpire.SessionID{"a", "b"} {
		b.append(umpire.Event{Kind: umpire.EventNotice, Session: id, At: b.later()},
			umpire.Event{Kind: umpire.EventNotice, Session: id, At: b.later()})
	}
	b.prune("a")
	if breaks := b.accepting(); len(breaks) > 0 {
		b.Fatalf("%v", breaks)
	}
	b.append(umpire.Event{Kind: umpire.EventPruned, At: b.later()})
	if breaks := b.accepting(); len(breaks) != 1 {
		b.Errorf("an event about nothing that was pruned: %v", breaks)
	}
	err := b.store.Update(b.Context(), func(tx *store.Tx) error {
		p, err := tx.Prunings.Prepare("b", b.later())
		return orElse(err, func() error { return tx.Prunings.Insert(&p, 1) })
	})
	if !is(err, store.ErrConflict) {
		b.Errorf("a session pruned without an event: %v", err)
	}
	if n := len(b.events(umpire.Filter{Session: "b"})); n != 2 {
		b.Errorf("%d events of b are left", n)
	}
}

// prunedEvent records that a session was pruned.
var prunedEvent = strings.NewReplacer(
	`'asked', 3`, `'', 1 + (SELECT session_seq FROM streams WHERE session_id = '')`, `'x'`, `'EventsPruned'`,
	`WHERE session_id = 'asked'`, `WHERE session_id = ''`, `99)`, `(SELECT 1 + MAX(seq) FROM events));`,
).Replace(eventRow("3", "last"))

// pruningRow prunes a session with the given number of events, after the last event.
func pruningRow(session string, events int) string {
	return `INSERT INTO prunings (session_id, seq, trace) SELECT '` + session + `', MAX(seq), '` +
		strings.Repeat("x", 40*events) + `' FROM events;`
}

// deliveredEvents is the number of events of the session "delivered".
const deliveredEvents = 4

var prunesDelivered = prunedEvent + pruningRow("delivered", deliveredEvents)

// prunedRefusals are the refusals about prunings.
var prunedRefusals = []refusal{
	{"ok", prunesDelivered},
	{"prunings_insert", pruningRow("delivered", deliveredEvents)}, // without an event about it
	{"prunings_insert", strings.Replace(prunesDelivered, "EventsPruned", "x", 1)},
	{"prunings_insert", prunedEvent + pruningRow("delivered", deliveredEvents-1)},
	{"prunings_insert", prunedEvent + pruningRow("none", 0)},
	{"prunings_insert", prunedEvent + pruningRow("", 1)},
	{"prunings_insert", prunedEvent + pruningRow("asked", 2)}, // it waits for an answer
	{"prunings_insert prunings_seq_key", prunesDelivered + pruningRow("settled", 3)},
	{"prunings_update", prunesDelivered + `UPDATE prunings SET trace = ''`},
	{"prunings_delete", prunesDelivered + `DELETE FROM prunings`},
	{"events_delete", prunedEvent + `DELETE FROM events WHERE session_id = 'delivered'`},
	{"events_delete", prunesDelivered + `DELETE FROM events WHERE session_id = 'asked'`},
	{"events_delete", prunesDelivered + `DELETE FROM events WHERE kind = 'EventsPruned'`},
	{"events_insert", prunesDelivered +
		strings.Replace(eventRow("1", "none"), "'asked'", "'delivered'", 1)},
	{"streams_delete", prunesDelivered + `DELETE FROM streams WHERE session_id = 'delivered'`},
}
