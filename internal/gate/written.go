package gate

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/project"
	"github.com/umpirehq/umpire/internal/store"
)

// Code that a person trusted stays trusted while the agent works on it, but no person has seen the
// agent's changes. The timeline tells which files those are: the targets of calls that were
// started, left to their host, or run by it unasked or despite a refusal.

const (
	writtenPage  = 500    // events read at a time
	writtenLimit = 50_000 // maximum number of events searched
)

var errManyEvents = errors.New(
	"too many events, or pruned ones, since you trusted the code (umpire rules trust --code)")

// writtenIn returns a function that lists the files of a project that agents changed since a
// time, as paths below its root in the order of their names.
func (ps *Projects) writtenIn(p *project.Project) func(time.Time) ([]string, error) {
	if ps.store == nil {
		return nil
	}
	return func(since time.Time) ([]string, error) {
		var files []string
		err := ps.view(context.Background(), func(tx *store.Tx) error {
			files = nil
			for seq, read := int64(0), 0; read < writtenLimit; read += writtenPage {
				events, err := tx.Events.ListBefore(p.ID, seq, writtenPage)
				if err != nil {
					return err
				}
				for i := range events {
					e := &events[i]
					if !e.At.After(since) {
						return nil
					}
					if store.PrunedSince(e, since) {
						return errManyEvents
					}
					files = append(files, changedBy(e, p.Root)...)
				}
				if len(events) < writtenPage {
					return nil
				}
				seq = events[len(events)-1].Seq
			}
			return errManyEvents
		})
		slices.Sort(files)
		return slices.Compact(files), err
	}
}

// changedBy returns the files below a root that the call of an event changes.
func changedBy(e *umpire.Event, root string) (files []string) {
	switch {
	case e.Kind == umpire.EventCallStarted, e.Kind == umpire.EventCallRanUnasked, e.Kind == umpire.EventCallRanRefused:
	case e.Code != umpire.CodeLeftToHost:
		return nil
	}
	for i := range e.Accesses {
		a := &e.Accesses[i]
		if a.Kind != umpire.KindWrite && a.Kind != umpire.KindDelete {
			continue
		}
		if rest, err := filepath.Rel(root, a.Resolved); err == nil && filepath.IsLocal(rest) {
			files = append(files, filepath.ToSlash(rest))
		}
	}
	return files
}

// asksAboutWritten reports whether a decision asks about code that the agent changed.
func asksAboutWritten(d *umpire.Decision) bool {
	return slices.ContainsFunc(d.Reasons, func(r umpire.Reason) bool { return r.Code == umpire.CodeWritten })
}

// confirmCode records a person's approval of the code in a question, at the time the question was
// asked. Later changes ask again.
func (g *Gate) confirmCode(r *resolution) error {
	if !r.confirms {
		return nil
	}
	p, err := g.projects.projectOf(r.conditions.session.Root, r.conditions.session.AddDirs)
	if err != nil {
		return err
	}
	ledger := g.be.config.Code()
	return ledger.Confirm(&p.Bounds, r.card.AskedAt)
}
