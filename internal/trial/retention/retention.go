// Package retention decides which undo records are removed to stay within the limits of space and age.
//
// An agent chooses how much it writes, so space alone must not decide. A young record with old content stays
// even beyond the limits: a keep that needs its space asks a person first. Each project and each session
// has a share, so none of them can push out the records of the others. Old outputs of builds, which git ignores and
// which a build makes again, have a separate share and go first: they take no space from other records.
package retention

import (
	"cmp"
	"slices"
	"time"
)

// Protected is how long a record with old content stays, however much is written after it.
const Protected = 24 * time.Hour

// The shares of the space that one project and one session may take.
const (
	projectShare = 2
	sessionShare = 4
	outputShare  = 4
)

// A Record describes the undo record of one call.
type Record struct {
	ID, Project, Session string
	Time                 time.Time
	Bytes                int64
	// Holds says that the record has old content of the project. Without it, undo only removes new files.
	Holds bool
	// Outputs says that all its old content are outputs. It then counts as holding none.
	Outputs bool
	// Alone says that it has old content that git cannot have: of a file that was deleted, or that git does not track.
	Alone bool
}

// Limits say how much is kept and for how long.
type Limits struct {
	Bytes int64
	Age   time.Duration
}

// Expires is when a record may be removed for its space, and at the latest for its age.
func (l Limits) Expires(r *Record) (early, late time.Time) {
	late = r.Time.Add(l.Age)
	if early = r.Time; r.rank() >= rankHolds {
		early = early.Add(Protected)
	}
	if early.After(late) {
		early = late
	}
	return early, late
}

// Removable returns the records to remove: those beyond the age, and of a session, a project or all that take more
// than their share the ones that hold nothing, then those with changes of tracked files, then all others, each time
// the oldest first. The latest record always stays.
func Removable(all []Record, l Limits, now time.Time) map[string]bool {
	remove, _ := fit(all, l, now)
	return remove
}

// Fits reports whether a record has room when all that is removable has gone.
func Fits(all []Record, r *Record, l Limits, now time.Time) bool {
	_, over := fit(append(slices.Clone(all), *r), l, now)
	return r.Outputs || !over(r)
}

// fit returns the records to remove. Over reports whether one is in a group that stays too large.
func fit(all []Record, l Limits, now time.Time) (remove map[string]bool, over func(*Record) bool) {
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), a.Time.Compare(b.Time))
	})
	remove = map[string]bool{}
	total := map[string]int64{}
	latest := Record{}
	for i := range order {
		r := &order[i]
		if latest.ID == "" || r.Time.After(latest.Time) {
			latest = *r
		}
		for _, g := range groupsOf(r) {
			total[g] += r.Bytes
		}
	}
	drop := func(r *Record) {
		remove[r.ID] = true
		for _, g := range groupsOf(r) {
			total[g] -= r.Bytes
		}
	}
	over = func(r *Record) bool {
		if r.Outputs && total["outputs"]+total["all"] > l.Bytes {
			return true
		}
		for _, g := range groupsOf(r) {
			if total[g] > l.Bytes/share(g) {
				return true
			}
		}
		return false
	}
	for i := range order {
		if r := &order[i]; r.ID != latest.ID && now.Sub(r.Time) > l.Age {
			drop(r)
		}
	}
	for i := range order {
		r := &order[i]
		early, _ := l.Expires(r)
		if r.ID != latest.ID && !remove[r.ID] && !early.After(now) && over(r) {
			drop(r)
		}
	}
	return remove, over
}

// The ranks of records, by which they go.
const (
	rankOutputs = iota
	rankNothing
	rankHolds
	rankAlone
)

func (r *Record) rank() int {
	switch {
	case r.Outputs:
		return rankOutputs
	case r.Holds && r.Alone:
		return rankAlone
	case r.Holds:
		return rankHolds
	}
	return rankNothing
}

// groupsOf names the budgets that a record's bytes count against. The first letter tells the kind of budget.
func groupsOf(r *Record) []string {
	if r.Outputs {
		return []string{"outputs"}
	}
	groups := []string{"all", "project " + r.Project}
	if r.Session != "" {
		groups = append(groups, "session "+r.Session)
	}
	return groups
}

func share(group string) int64 {
	switch group[0] {
	case 'p':
		return projectShare
	case 's':
		return sessionShare
	case 'o':
		return outputShare
	}
	return 1
}
