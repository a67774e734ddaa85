// Package githistory reports the changes of a trial that are not part of git's normal
// recording. Git adds objects, moves refs, logs their old values, and packs. Afterwards every
// commit that a ref, a log or a stash led to is still reachable.
//
//	refused := githistory.Inspect(changes)
//
// It reads files and runs nothing. It reports any change that it does not understand.
package githistory

import (
	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files/gitdir"
)

// Inspect returns new repositories that may run programs, and changes in git directories that
// need approval. It marks changes of guarded files that name no program as plain.
func Inspect(changes []gitdir.Change) (found []umpire.TrialAttempt) {
	v := gitdir.NewView(changes)
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
