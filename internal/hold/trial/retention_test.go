package trial

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

var undoDay = time.Date(2026, 5, 5, 5, 5, 5, 0, time.UTC)

// TestFloodRemovesNoRecent checks that a young record with old content stays, in its own project and others,
// regardless of the size, session and number of records that an agent adds, with a collection after each.
func TestFloodRemovesNoRecent(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		limits := UndoLimits{Bytes: 100, Age: 7 * 24 * time.Hour}
		all := []undoRecord{
			{ID: "thesis", Project: "p", Session: "s", Time: undoDay, Bytes: 1, Holds: true},
			{ID: "other", Project: "q", Time: undoDay, Bytes: 1, Holds: true},
		}
		now := undoDay
		for i := range 100 {
			now = now.Add(time.Duration(r.IntN(10)) * time.Minute)
			next := undoRecord{
				ID: fmt.Sprint(i), Project: []string{"p", "q", "r"}[r.IntN(3)], Session: fmt.Sprint(r.IntN(1 + i)),
				Time: now, Bytes: []int64{0, 1, 30, 1000}[r.IntN(4)], Holds: r.IntN(2) == 0,
			}
			next.Outputs = next.Holds && r.IntN(2) == 0
			all = append(all, next)
			var left []undoRecord
			remove := pickRemovable(all, limits, now)
			for _, k := range all {
				if !remove[k.ID] {
					left = append(left, k)
				}
			}
			all = left
		}
		if all[0].ID != "thesis" || all[1].ID != "other" {
			t.Fatalf("seed %d: %v and %v are first", seed, all[0].ID, all[1].ID)
		}
	}
}

// TestOrder checks that records without old content go before those with content, then
// the oldest, and only from projects and sessions over their share.
func TestOrder(t *testing.T) {
	t.Parallel()
	at := func(d int) time.Time { return undoDay.Add(time.Duration(d) * 24 * time.Hour) }
	limits := UndoLimits{Bytes: 100, Age: 30 * 24 * time.Hour}
	for name, c := range map[string]struct {
		all  []undoRecord
		want string
	}{
		"age":              {[]undoRecord{{ID: "a", Time: at(-40), Holds: true}, {ID: "b", Time: at(0)}}, "map[a:true]"},
		"the latest stays": {[]undoRecord{{ID: "a", Project: "p", Time: at(-40), Bytes: 500}}, "map[]"},
		"holds nothing": {[]undoRecord{
			{ID: "a", Project: "p", Time: at(-3), Bytes: 40, Holds: true}, {ID: "b", Project: "p", Time: at(-2), Bytes: 40},
			{ID: "c", Project: "p", Time: at(0)},
		}, "map[b:true]"},
		"a project": {[]undoRecord{
			{ID: "a", Project: "q", Time: at(-5), Bytes: 40, Holds: true},
			{ID: "b", Project: "p", Time: at(-3), Bytes: 30, Holds: true}, {ID: "c", Project: "p", Time: at(-2), Bytes: 30, Holds: true},
			{ID: "d", Project: "p", Time: at(0)},
		}, "map[b:true]"},
		"a session": {[]undoRecord{
			{ID: "a", Project: "p", Session: "t", Time: at(-4), Bytes: 20, Holds: true},
			{ID: "b", Project: "p", Session: "s", Time: at(-3), Bytes: 20, Holds: true},
			{ID: "c", Project: "p", Session: "s", Time: at(-2), Bytes: 9, Holds: true}, {ID: "d", Project: "p", Time: at(0)},
		}, "map[b:true]"},
		"deleted and untracked files go last": {[]undoRecord{
			{ID: "a", Project: "p", Time: at(-4), Bytes: 40, Holds: true, Alone: true},
			{ID: "b", Project: "p", Time: at(-2), Bytes: 40, Holds: true}, {ID: "c", Project: "p", Time: at(0)},
		}, "map[b:true]"},
		"outputs go first": {[]undoRecord{
			{ID: "a", Project: "p", Time: at(-5), Bytes: 20, Holds: true}, {ID: "b", Project: "p", Time: at(-4), Bytes: 20},
			{ID: "c", Project: "p", Time: at(-1), Bytes: 20, Holds: true, Outputs: true},
			{ID: "d", Project: "q", Time: at(0), Bytes: 45, Holds: true}, {ID: "e", Project: "q", Time: at(0)},
		}, "map[c:true]"},
		"outputs have a share": {[]undoRecord{
			{ID: "a", Project: "p", Time: at(-3), Bytes: 20, Holds: true, Outputs: true},
			{ID: "b", Project: "q", Time: at(-2), Bytes: 20, Holds: true, Outputs: true}, {ID: "d", Project: "p", Time: at(0)},
		}, "map[a:true]"},
		"outputs take no space": {[]undoRecord{
			{ID: "a", Project: "p", Session: "s", Time: at(-3), Bytes: 20, Holds: true},
			{ID: "b", Project: "p", Session: "s", Time: at(0), Bytes: 500, Holds: true, Outputs: true},
		}, "map[]"},
	} {
		if got := fmt.Sprint(pickRemovable(c.all, limits, undoDay)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestFits checks that a record has room unless young records with content take it.
func TestFits(t *testing.T) {
	t.Parallel()
	limits := UndoLimits{Bytes: 100, Age: 30 * 24 * time.Hour}
	next := undoRecord{ID: "n", Project: "p", Session: "s", Time: undoDay, Bytes: 20, Holds: true}
	for age, want := range map[time.Duration]bool{time.Hour: false, 23 * time.Hour: false, 25 * time.Hour: true} {
		old := []undoRecord{{ID: "o", Project: "p", Session: "o", Time: undoDay.Add(-age), Bytes: 40, Holds: true}}
		if got := hasRoom(old, &next, limits, undoDay); got != want {
			t.Errorf("after %v: %v", age, got)
		}
		old[0].Project = "q"
		if !hasRoom(old, &next, limits, undoDay) {
			t.Errorf("another project's of %v is in its way", age)
		}
	}
	next.Bytes, next.Outputs = 1000, true
	if !hasRoom(nil, &next, limits, undoDay) {
		t.Error("outputs ask")
	}
	if early, _ := limits.expires(&next); !early.Equal(undoDay) {
		t.Errorf("outputs stay until %v", early)
	}
	next.Outputs = false
	if hasRoom(nil, &next, limits, undoDay) {
		t.Error("a huge one fits")
	}
}
