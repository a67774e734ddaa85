package trial

import (
	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files/gitdir"
)

// inspectGit returns new repositories that may run programs, and changes in git directories that
// need approval, because they are not part of git's normal recording: git adds objects, moves refs, logs their old
// values, and packs, and afterwards every commit that a ref, a log or a stash led to is still reachable. inspectGit
// reads files and runs nothing. It returns any change that it does not understand, and marks changes of guarded files
// that name no program as plain.
func inspectGit(changes []gitdir.Change) (found []umpire.TrialAttempt) {
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
