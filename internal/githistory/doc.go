// Package githistory reports the changes of a trial that git's own recording does not make. Git adds
// objects, moves refs, notes in their logs where they were, and packs. After that each commit
// that a ref, a log or a stash led to can be reached as before.
//
//	refused := githistory.Inspect(changes)
//
// It reads files and runs nothing. A change that it does not understand is reported.
package githistory

import (
	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gittree"
)

// Inspect returns the repositories that were made and may run programs, and the changes in git
// directories that need a person. Those of guarded files that name no program are among them as plain.
func Inspect(changes []gittree.Change) (found []umpire.TrialAttempt) {
	v := gittree.NewView(changes)
	for _, dir := range v.Armed(changes) {
		found = append(found, umpire.TrialAttempt{Kind: umpire.AttemptRepository, Target: dir})
	}
	for _, path := range unrecorded(v, changes) {
		found = append(found, umpire.TrialAttempt{Kind: umpire.AttemptHistory, Target: path})
	}
	for i := range changes {
		if namesNothing(v, &changes[i]) {
			found = append(found, umpire.TrialAttempt{Kind: umpire.AttemptPlain, Target: changes[i].Path})
		}
	}
	return found
}
