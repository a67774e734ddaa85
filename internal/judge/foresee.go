package judge

import (
	"cmp"
	"context"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files/gitdir"
	"github.com/umpirehq/umpire/policy"
)

// foreseeGit adds the writes and deletes of a git command in the work tree to the facts, and
// reports whether it did. It does so only if the rest of the line cannot change anything: other
// commands could change git's starting state or redirect paths.
func (j *Judge) foreseeGit(q *policy.Query) bool {
	git := -1
	for i := range q.Facts.Accesses {
		a := &q.Facts.Accesses[i]
		switch {
		case a.Kind == umpire.KindExec && gitdir.MovesFiles(a.Words):
			if git >= 0 {
				return false
			}
			git = i
		case !onlyLooks(a):
			return false
		}
	}
	if git < 0 || !q.NoHooks || j.Git == nil {
		return false
	}
	program := &q.Facts.Accesses[git]
	if program.Code || program.Doubt != "" || len(program.Line) != len(program.Words) {
		return false
	}
	changes, known := j.Git(context.Background(), cmp.Or(q.Call.Dir, j.Bounds.Dir), program.Words)
	if !known {
		return false
	}
	facts := policy.FactsOfEffects(&umpire.TrialEffects{List: changes, Whole: true})
	q.Facts.Accesses = slices.Clone(q.Facts.Accesses)
	for _, a := range facts.Accesses {
		if a.Paths() {
			a.Part, a.Table, a.Reason = program.Part, policy.TableGitTree, "git puts another version there"
			q.Facts.Accesses = append(q.Facts.Accesses, a)
		}
	}
	j.Bounds.ResolveAll(&q.Facts)
	q.GitKnown = true
	return true
}

// onlyLooks reports whether an access changes neither files nor the working directory of the line.
func onlyLooks(a *umpire.Access) bool {
	return a.Kind == umpire.KindExec && a.Risk == umpire.Safe && !a.Code && a.Doubt == "" ||
		a.Kind == umpire.KindRead && a.Table != "cd" || a.Place == umpire.PlaceHarmless
}

// askAboutGit asks about writes into a git directory and doubts writes that would turn a folder into a
// git repository, because its settings could name programs that git, prompts and editors then run.
func askAboutGit(facts *umpire.Facts) {
	var written []string
	for i := range facts.Accesses {
		a := &facts.Accesses[i]
		if a.Kind != umpire.KindWrite && a.Kind != umpire.KindDelete {
			continue
		}
		if gitdir.Directory(a.Resolved) != "" && a.Asks == "" {
			a.Asks = umpire.CodeControlFile
		}
		if a.Kind == umpire.KindWrite && a.Place != umpire.PlaceHarmless {
			written = append(written, a.Resolved)
		}
	}
	made := gitdir.MadeRepositories(written)
	for i := range facts.Accesses {
		if a := &facts.Accesses[i]; a.Kind == umpire.KindWrite && a.Doubt == "" && slices.Contains(made, a.Resolved) {
			a.Doubt = policy.DoubtRepository
		}
	}
}
