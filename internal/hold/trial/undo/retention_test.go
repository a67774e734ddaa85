package undo

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

var day = time.Date(2026, 5, 5, 5, 5, 5, 0, time.UTC)

// TestFloodRemovesNoRecent checks that a young record with old content stays, in its own project and others,
// regardless of the size, session and number of records that an agent adds, with a collection after each.
func TestFloodRemovesNoRecent(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		limits := Limits{Bytes: 100, Age: 7 * 24 * time.Hour}
		all := []Record{
			{ID: "thesis", Project: "p", Session: "s", Time: day, Bytes: 1, Holds: true},
			{ID: "other", Project: "q", Time: day, Bytes: 1, Holds: true},
		}
		now := day
		for i := range 100 {
			now = now.Add(time.Duration(r.IntN(10)) * time.Minute)
			next := Record{
				ID: fmt.Sprint(i), Project: []string{"p", "q", "r"}[r.IntN(3)], Session: fmt.Sprint(r.IntN(1 + i)),
				Time: now, Bytes: []int64{0, 1, 30, 1000}[r.IntN(4)], Holds: r.IntN(2) == 0,
			}
			next.Outputs = next.Holds && r.IntN(2) == 0
			all = append(all, next)
			var left []Record
			remove := Removable(all, limits, now)
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
	at := func(d int) time.Time { return day.Add(time.Duration(d) * 24 * time.Hour) }
	limits := Limits{Bytes: 100, Age: 30 * 24 * time.Hour}
	for name, c := range map[string]struct {
		all  []Record
		want string
	}{
		"age":              {[]Record{{ID: "a", Time: at(-40), Holds: true}, {ID: "b", Time: at(0)}}, "map[a:true]"},
		"the latest stays": {[]Record{{ID: "a", Project: "p", Time: at(-40), Bytes: 500}}, "map[]"},
		"holds nothing": {[]Record{
			{ID: "a", Project: "p", Time: at(-3), Bytes: 40, Holds: true}, {ID: "b", Project: "p", Time: at(-2), Bytes: 40},
			{ID: "c", Project: "p", Time: at(0)},
		}, "map[b:true]"},
		"a project": {[]Record{
			{ID: "a", Project: "q", Time: at(-5), Bytes: 40, Holds: true},
			{ID: "b", Project: "p", Time: at(-3), Bytes: 30, Holds: true}, {ID: "c", Project: "p", Time: at(-2), Bytes: 30, Holds: true},
			{ID: "d", Project: "p", Time: at(0)},
		}, "map[b:true]"},
		"a session": {[]Record{
			{ID: "a", Project: "p", Session: "t", Time: at(-4), Bytes: 20, Holds: true},
			{ID: "b", Project: "p", Session: "s", Time: at(-3), Bytes: 20, Holds: true},
			{ID: "c", Project: "p", Session: "s", Time: at(-2), Bytes: 9, Holds: true}, {ID: "d", Project: "p", Time: at(0)},
		}, "map[b:true]"},
		"deleted and untracked files go last": {[]Record{
			{ID: "a", Project: "p", Time: at(-4), Bytes: 40, Holds: true, Alone: true},
			{ID: "b", Project: "p", Time: at(-2), Bytes: 40, Holds: true}, {ID: "c", Project: "p", Time: at(0)},
		}, "map[b:true]"},
		"outputs go first": {[]Record{
			{ID: "a", Project: "p", Time: at(-5), Bytes: 20, Holds: true}, {ID: "b", Project: "p", Time: at(-4), Bytes: 20},
			{ID: "c", Project: "p", Time: at(-1), Bytes: 20, Holds: true, Outputs: true},
			{ID: "d", Project: "q", Time: at(0), Bytes: 45, Holds: true}, {ID: "e", Project: "q", Time: at(0)},
		}, "map[c:true]"},
		"outputs have a share": {[]Record{
			{ID: "a", Project: "p", Time: at(-3), Bytes: 20, Holds: true, Outputs: true},
			{ID: "b", Project: "q", Time: at(-2), Bytes: 20, Holds: true, Outputs: true}, {ID: "d", Project: "p", Time: at(0)},
		}, "map[a:true]"},
		"outputs take no space": {[]Record{
			{ID: "a", Project: "p", Session: "s", Time: at(-3), Bytes: 20, Holds: true},
			{ID: "b", Project: "p", Session: "s", Time: at(0), Bytes: 500, Holds: true, Outputs: true},
		}, "map[]"},
	} {
		if got := fmt.Sprint(Removable(c.all, limits, day)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestFits checks that a record has room unless young records with content take it.
func TestFits(t *testing.T) {
	t.Parallel()
	limits := Limits{Bytes: 100, Age: 30 * 24 * time.Hour}
	next := Record{ID: "n", Project: "p", Session: "s", Time: day, Bytes: 20, Holds: true}
	for age, want := range map[time.Duration]bool{time.Hour: false, 23 * time.Hour: false, 25 * time.Hour: true} {
		old := []Record{{ID: "o", Project: "p", Session: "o", Time: day.Add(-age), Bytes: 40, Holds: true}}
		if got := Fits(old, &next, limits, day); got != want {
			t.Errorf("after %v: %v", age, got)
		}
		old[0].Project = "q"
		if !Fits(old, &next, limits, day) {
			t.Errorf("another project's of %v is in its way", age)
		}
	}
	next.Bytes, next.Outputs = 1000, true
	if !Fits(nil, &next, limits, day) {
		t.Error("outputs ask")
	}
	if early, _ := limits.Expires(&next); !early.Equal(day) {
		t.Errorf("outputs stay until %v", early)
	}
	next.Outputs = false
	if Fits(nil, &next, limits, day) {
		t.Error("a huge one fits")
	}
}
