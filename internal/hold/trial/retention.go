package trial

import (
	"cmp"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
)

// This file picks the undo records that are removed to stay within the limits of space and age. An agent chooses how
// much it writes, so space alone must not decide. A young record with old content stays even beyond the limits: a
// keep that needs its space asks a person first. Each project and each session has a share and cannot push out the
// records of others. Old build outputs, which git ignores and a build can make again, have a separate share and go
// first, so they take no space from other records.

// The divisors of the space for one project, one session and outputs.
const (
	projectShare = 2
	sessionShare = 4
	outputShare  = 4
)

// An undoRecord describes the undo record of one call.
type undoRecord struct {
	ID, Project, Session string
	Time                 time.Time
	Bytes                int64
	// Holds means that the record has old content of the project. Without it, undo only removes new files.
	Holds bool
	// Outputs means that all its old content is build output. It then counts like a record without old content.
	Outputs bool
	// Alone means that it has old content that git cannot have: of a deleted or untracked file.
	Alone bool
}

// UndoLimits are the limits of size and age.
type UndoLimits struct {
	Bytes int64
	Age   time.Duration
}

// expires returns when a record may be removed for its space, and when it is removed for its age.
func (l UndoLimits) expires(r *undoRecord) (early, late time.Time) {
	late = r.Time.Add(l.Age)
	if early = r.Time; r.rank() >= rankHolds {
		early = early.Add(umpire.UndoProtected)
	}
	if early.After(late) {
		early = late
	}
	return early, late
}

// pickRemovable returns the records to remove: first those beyond the age limit. For each session,
// project or total over its share it then removes records without old content, records with changes
// of tracked files, and all others, oldest first in each group. The latest record always stays.
func pickRemovable(all []undoRecord, l UndoLimits, now time.Time) map[string]bool {
	remove, _ := fitRecords(all, l, now)
	return remove
}

// hasRoom reports whether a record has room after all removable records are gone.
func hasRoom(all []undoRecord, r *undoRecord, l UndoLimits, now time.Time) bool {
	_, over := fitRecords(append(slices.Clone(all), *r), l, now)
	return r.Outputs || !over(r)
}

// fitRecords returns the records to remove. over reports whether a record is in a group that stays too large.
func fitRecords(all []undoRecord, l UndoLimits, now time.Time) (remove map[string]bool, over func(*undoRecord) bool) {
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(a, b undoRecord) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), a.Time.Compare(b.Time))
	})
	remove = map[string]bool{}
	total := map[string]int64{}
	latest := undoRecord{}
	for i := range order {
		r := &order[i]
		if latest.ID == "" || r.Time.After(latest.Time) {
			latest = *r
		}
		for _, g := range groupsOf(r) {
			total[g] += r.Bytes
		}
	}
	drop := func(r *undoRecord) {
		remove[r.ID] = true
		for _, g := range groupsOf(r) {
			total[g] -= r.Bytes
		}
	}
	over = func(r *undoRecord) bool {
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
		early, _ := l.expires(r)
		if r.ID != latest.ID && !remove[r.ID] && !early.After(now) && over(r) {
			drop(r)
		}
	}
	return remove, over
}

// The ranks of records, in the order of removal.
const (
	rankOutputs = iota
	rankNothing
	rankHolds
	rankAlone
)

func (r *undoRecord) rank() int {
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

// groupsOf returns the budgets that a record's bytes count against. The first letter is the kind of budget.
func groupsOf(r *undoRecord) []string {
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
