package storetest

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// append appends events and returns them as stored.
func (b *bench) append(events ...umpire.Event) (stored []umpire.Event) {
	b.Helper()
	b.update(func(tx *store.Tx) error {
		stored = nil
		for _, e := range events {
			s, err := tx.Events.Append(e)
			if err != nil {
				return err
			}
			stored = append(stored, s)
		}
		return nil
	})
	return stored
}

func (b *bench) events(f umpire.Filter) (found []umpire.Event) {
	b.Helper()
	b.view(func(tx *store.Tx) (err error) {
		found, err = tx.Events.List(f)
		return err
	})
	return found
}

// whole checks that no chain has a break and no stream a gap.
func (b *bench) whole() {
	b.Helper()
	breaks, err := b.store.Verify(b.Context(), nil)
	if err != nil || len(breaks) > 0 {
		b.Errorf("Verify: %v, %v", breaks, err)
	}
	var gaps int
	const query = `SELECT COUNT(*) FROM (SELECT session_id FROM events GROUP BY session_id
		HAVING COUNT(*) <> MAX(session_seq) OR MIN(session_seq) <> 1) AS g`
	if err := b.db.Raw.QueryRowContext(b.Context(), query).Scan(&gaps); err != nil || gaps > 0 {
		b.Errorf("%d streams have gaps (%v)", gaps, err)
	}
}

func eventsComeBack(b *bench) {
	full := umpire.Event{
		At: b.later().Add(123456789).In(time.FixedZone("", 7200)), Kind: umpire.EventPermissionAsked, Project: "p",
		Session: "s", Batch: "b", Call: "c", Request: "r", Agent: "a", Tool: "Bash", State: umpire.StateWaiting,
		Type: umpire.PermissionType("command"), Risk: "high",
		Blocked: &umpire.Blocked{Code: umpire.CodeMode, Detail: "<d> & \u2028"}, Verdict: new(umpire.Deny),
		Reason: "why <&>", Code: umpire.CodeMode, Rule: "rule", Scope: new(umpire.ScopeOnce), Actor: "me",
		Accesses: []umpire.Access{{Kind: umpire.KindExec, Program: "ls", Args: []string{"-l"}}},
		Data:     json.RawMessage(`{ "z": 1.50, "a": {"y": "<", "x": [1e2, null]}, "big": 12345678901234567890 }`),
	}
	appended := b.append(full, umpire.Event{Kind: umpire.EventNotice, At: b.now},
		umpire.Event{Kind: umpire.EventNotice, Project: "q", Session: "t", At: b.now}, full)
	want := full
	want.At = full.At.UTC().Truncate(time.Microsecond)
	want.Data = json.RawMessage(`{"a":{"x":[1e2,null],"y":"\u003c"},"big":12345678901234567890,"z":1.50}`)
	want.Seq, want.PrevHash, want.Hash = appended[0].Seq, "", appended[0].Hash
	if diff := cmp.Diff(want, appended[0]); diff != "" {
		b.Errorf("Append (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(appended, b.events(umpire.Filter{})); diff != "" {
		b.Errorf("Events (-want +got):\n%s", diff)
	}
	if hash, err := store.Chain("", full); err != nil || hash != appended[0].Hash {
		b.Errorf("Chain of the event as it was given: %q, %v, want %q", hash, err, appended[0].Hash)
	}
	if appended[3].PrevHash != appended[0].Hash || appended[1].PrevHash != "" || appended[2].PrevHash != "" {
		b.Error("the events of a session are not chained to each other")
	}
	seq := func(i int) int64 { return appended[i].Seq }
	for _, c := range []struct {
		filter umpire.Filter
		want   []int64
	}{
		{umpire.Filter{Limit: 2}, []int64{seq(0), seq(1)}},
		{umpire.Filter{After: seq(1)}, []int64{seq(2), seq(3)}},
		{umpire.Filter{Session: "s"}, []int64{seq(0), seq(3)}},
		{umpire.Filter{Session: "s", After: seq(0), Limit: 5}, []int64{seq(3)}},
		{umpire.Filter{Project: "q"}, []int64{seq(2)}},
		{umpire.Filter{Project: "q", Session: "s"}, nil},
		{umpire.Filter{After: seq(3)}, nil},
	} {
		var got []int64
		for _, e := range b.events(c.filter) {
			got = append(got, e.Seq)
		}
		if !slices.Equal(got, c.want) {
			b.Errorf("Events(%+v) = %v, want %v", c.filter, got, c.want)
		}
	}
	for _, c := range []struct {
		filter umpire.Filter
		upTo   int64
		want   []int64
	}{
		{umpire.Filter{Last: 1}, seq(3), []int64{seq(3)}},
		{umpire.Filter{Last: 2}, seq(2), []int64{seq(1), seq(2)}},
		{umpire.Filter{Last: 9, After: seq(1)}, seq(3), []int64{seq(2), seq(3)}},
		{umpire.Filter{Last: 1, Session: "s"}, seq(2), []int64{seq(0)}},
		{umpire.Filter{Last: 1, Project: "q"}, seq(3), []int64{seq(2)}},
		{umpire.Filter{Last: 1, After: seq(3)}, math.MaxInt64, nil},
		{umpire.Filter{Last: 2, Before: seq(3)}, math.MaxInt64, []int64{seq(1), seq(2)}},
		{umpire.Filter{Last: 9, Before: seq(1)}, seq(3), []int64{seq(0)}},
	} {
		var got []int64
		b.view(func(tx *store.Tx) error {
			got = nil
			events, err := tx.Events.ListLast(c.filter, c.upTo)
			for _, e := range events {
				got = append(got, e.Seq)
			}
			return err
		})
		if !slices.Equal(got, c.want) {
			b.Errorf("Events.ListLast(%+v, %d) = %v, want %v", c.filter, c.upTo, got, c.want)
		}
	}
	b.whole()
	// Invalid text is stored as text, and hashed as stored.
	odd := b.append(umpire.Event{Kind: "x", Session: "s\x00\xff", Reason: "\xff",
		Data: json.RawMessage("{\"k\":\"\xff\\u0000\"}"), At: b.now})
	if got := b.events(umpire.Filter{After: seq(3)}); !cmp.Equal(got, odd) {
		b.Errorf("Events = %+v, want %+v", got, odd)
	}
	b.whole()
	for name, bad := range map[string]umpire.Event{
		"data that is no JSON": {Kind: "x", Data: json.RawMessage(`{`), At: b.now},
	} {
		b.refuse(umpire.ErrInvalid, func(tx *store.Tx) error {
			_, err := tx.Events.Append(bad)
			return err
		})
		b.Log(name)
	}
	b.refuse(store.ErrConflict, func(tx *store.Tx) error {
		_, err := tx.Events.Append(umpire.Event{At: b.now})
		return err
	})
}

// tampers are ways to change a timeline with direct access to the database. In them {2}
// stands for the second event of session "s", and so on. found lists the breaks found in
// the events, foundByEnds those found through the ends of the streams.
var tampers = []struct {
	name, statements   string
	found, foundByEnds []string
}{
	{"a byte flipped", `UPDATE events SET reason = 'wht' WHERE seq = {2}`, []string{"{2} altered"}, nil},
	{"another project", `UPDATE events SET project_id = 'q' WHERE seq = {2}`, []string{"{2} altered"}, nil},
	{"another time", `UPDATE events SET at = at + 1 WHERE seq = {2}`, []string{"{2} altered"}, nil},
	{"another verdict", `UPDATE events SET verdict = 'allow' WHERE seq = {2}`, []string{"{2} altered"}, nil},
	{"data removed", `UPDATE events SET data = NULL WHERE seq = {2}`, []string{"{2} altered"}, nil},
	{"another hash", `UPDATE events SET hash = prev_hash WHERE seq = {2}`, []string{"{2} altered", "{3} follow"}, nil},
	{"the first dropped", `DELETE FROM events WHERE seq = {1}`, []string{"{2} first"}, []string{"s has 3"}},
	{"one dropped", `DELETE FROM events WHERE seq = {2}`, []string{"{3} follow"}, []string{"s has 3"}},
	{
		"two swapped", `UPDATE events SET seq = -1, session_seq = -1
			WHERE seq = {2}; UPDATE events SET seq = {2}, session_seq = 2 WHERE seq = {3};
			UPDATE events SET seq = {3}, session_seq = 3 WHERE seq = -1`,
		[]string{"{2} follow", "{3} follow", "{4} follow"}, nil,
	},
	{"moved to another session", `UPDATE events SET session_id = 't', session_seq = 9
		WHERE seq = {4}`, []string{"{4} follow", "{4} altered"}, []string{"s has 3", "t has 2"}},
	{"the tail cut", `DELETE FROM events WHERE seq >= {3} AND session_id = 's'`, nil, []string{"s has 2"}},
	{"a session dropped", `DELETE FROM events WHERE session_id = 's'`, nil, []string{"s has 0"}},
	{"the end forgotten", `DELETE FROM streams WHERE session_id = 's'`, nil, []string{"s says"}},
	{
		// Only a copy kept elsewhere can detect this.
		"the tail cut in both places", `DELETE FROM events WHERE seq >= {3} AND session_id = 's';
			UPDATE streams SET session_seq = 2, hash = (SELECT hash FROM events WHERE seq = {2})
				WHERE session_id = 's'`, nil, nil,
	},
}

func chainBreaks(b *bench) {
	e := func(session umpire.SessionID) umpire.Event {
		return umpire.Event{Kind: umpire.EventNotice, Session: session, Project: "p", Reason: "why",
			Verdict: new(umpire.Ask), Data: json.RawMessage(`{"a":1}`), At: b.later()}
	}
	stored := b.append(e("s"), e("t"), e("s"), e(""), e("s"), e("s"))
	var seqs []string
	for i, at := range []int{0, 2, 4, 5} {
		seqs = append(seqs, fmt.Sprintf("{%d}", i+1), fmt.Sprint(stored[at].Seq))
	}
	fill := strings.NewReplacer(seqs...)
	b.whole()
	b.disarm()
	for _, tamper := range tampers {
		b.commit(split(fill.Replace(tamper.statements))...)
		walked, err := store.Verify(sequence(b.events(umpire.Filter{})))
		b.found(tamper.name+", walking", fill, tamper.found, walked, err)
		all, err := b.store.Verify(b.Context(), nil)
		b.found(tamper.name+", with ends", fill, append(slices.Clone(tamper.found), tamper.foundByEnds...), all, err)
		b.commit(`DELETE FROM events`, `INSERT INTO events SELECT * FROM saved_events`, `DELETE
			FROM streams`, `INSERT INTO streams SELECT * FROM saved_streams`)
		b.whole()
	}
	// The next event detects a forged hash, and the end of its stream the last one.
	for i, want := range map[int]string{2: "{3} follow", 5: "s has"} {
		forged := stored[i]
		forged.Reason = "forged"
		hash, err := store.Chain(forged.PrevHash, forged)
		if err != nil {
			b.Fatal(err)
		}
		b.commit(fmt.Sprintf(`UPDATE events SET reason = 'forged', hash = '%s' WHERE seq = %d`, hash, forged.Seq))
		all, err := b.store.Verify(b.Context(), nil)
		b.found("forged", fill, []string{want}, all, err)
		b.commit(fmt.Sprintf(`UPDATE events SET reason = 'why', hash = '%s'
			WHERE seq = %d`, stored[i].Hash, forged.Seq))
	}
	failed := func(yield func(umpire.Event, error) bool) { yield(umpire.Event{}, errUndo) }
	if _, err := store.Verify(failed); !is(err, errUndo) {
		b.Errorf("Verify of a walk that fails: %v", err)
	}
}

// disarm removes the triggers that prevent tampering, and copies the timeline.
func (b *bench) disarm() {
	b.Helper()
	for _, t := range [][2]string{
		{"events_insert", "events"}, {"events_extend", "events"}, {"events_update", "events"},
		{"events_delete", "events"}, {"streams_insert", "streams"}, {"streams_update", "streams"},
		{"streams_delete", "streams"},
	} {
		b.commit(b.drop(t[0], t[1]))
	}
	if strings.HasSuffix(b.drop("x", ""), "x") {
		b.commit(`DROP TRIGGER events_order`)
	}
	b.commit(`CREATE TABLE saved_events AS SELECT * FROM events`, `CREATE TABLE saved_streams AS SELECT * FROM streams`)
}

// commit runs raw statements and commits them.
func (b *bench) commit(statements ...string) {
	b.Helper()
	for _, s := range statements {
		if _, err := b.db.Raw.ExecContext(b.Context(), s); err != nil {
			b.Fatalf("%s: %v", s, err)
		}
	}
}

// found compares breaks with the expected ones: a seq or a session, and a word of the
// problem.
func (b *bench) found(name string, fill *strings.Replacer, want []string, got []store.Break, err error) {
	b.Helper()
	matches := func(want string, got store.Break) bool {
		where, word, _ := strings.Cut(fill.Replace(want), " ")
		return (where == fmt.Sprint(got.Seq) || where == string(got.Session)) && strings.Contains(got.Problem, word)
	}
	same := len(want) == len(got)
	for _, w := range want {
		same = same && slices.ContainsFunc(got, func(g store.Break) bool { return matches(w, g) })
	}
	if !same || err != nil {
		b.Errorf("%s: found %+v, %v, want %q", name, got, err, want)
	}
}

func sequence(events []umpire.Event) iter.Seq2[umpire.Event, error] {
	return func(yield func(umpire.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// horizon checks that events up to it exist, and that it eventually covers all events.
func horizon(b *bench) {
	other := b.open()
	last := b.append(umpire.Event{Kind: "x", At: b.now}, umpire.Event{Kind: "x", Session: "s", At: b.now})[1].Seq
	for name, s := range map[string]*store.Store{"this": b.store, "another": other} {
		b.until(s, name+" handle: the event is below the horizon", func(tx *store.Tx) (bool, error) {
			h, err := tx.Events.Horizon()
			if h > last {
				b.Errorf("the horizon is %d, and the last event %d", h, last)
			}
			return h == last, err
		})
	}
	b.update(func(tx *store.Tx) error {
		_, err := tx.Events.Horizon()
		return err
	})
}
