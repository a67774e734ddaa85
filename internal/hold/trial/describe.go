package trial

import (
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files/gitdir"
)

// Describe returns the effects of a layer in the form used for decisions, storage and display.
func (l *Layer) Describe(e *Effects) umpire.TrialEffects {
	described := umpire.TrialEffects{
		List: make([]umpire.TrialEffect, 0, len(e.List)), Reached: e.Reached, Whole: e.Whole(), Digest: e.Digest,
	}
	for i := range e.List {
		described.List = append(described.List, l.describeEffect(&e.List[i]))
	}
	for _, a := range e.Refused {
		described.Refused = append(described.Refused, umpire.TrialAttempt(a))
	}
	described.Refused = append(described.Refused, inspectGit(l.changes(e))...)
	return described
}

// changes returns the effects as git would see them. A moved file counts as deleted and created.
func (l *Layer) changes(e *Effects) (all []gitdir.Change) {
	for i := range e.List {
		f := &e.List[i]
		c := gitdir.Change{
			Path: f.Path, Before: f.Before.Type, After: f.After.Type, Gone: f.Kind == Deleted,
			New: f.Kind == Created || f.Kind == Moved, Same: f.Kind == Attributes,
		}
		for _, r := range l.Roots { // inner roots come later
			if below, is := strings.CutPrefix(f.Path, r.Lower+"/"); is {
				c.File = filepath.Join(r.Upper, below)
			}
		}
		if f.From != "" {
			all = append(all, gitdir.Change{Path: f.From, Before: f.Before.Type, Gone: true})
		}
		all = append(all, c)
	}
	return all
}

func (l *Layer) describeEffect(e *Effect) umpire.TrialEffect {
	entry := &e.After
	if e.Kind == Deleted {
		entry = &e.Before
	}
	return umpire.TrialEffect{
		Kind: e.Kind, Path: e.Path, From: e.From, Mode: entry.Type, Size: entry.Size,
		Link: entry.Link, LeadsOut: l.LeadsOut(e), SameAs: entry.SameAs,
	}
}
