package app

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/project"
	"github.com/umpirehq/umpire/internal/view"
)

// A ProjectView reads the data of the working directory's project, or of all projects, from a gate. The project
// includes sessions at its root that were opened when it had another id, as before its first commit or in a
// shallow clone.
type ProjectView struct {
	gate    umpire.Gate
	project *project.Project // nil for all projects
	ids     []umpire.ProjectID
}

// ViewProject returns a view of this project, or of all of them. An agent may not list sessions, so its view only
// knows the ids in the folder itself.
func ViewProject(ctx context.Context, a *App, gate umpire.Gate, as Credential, all bool) (*ProjectView, error) {
	if all {
		return &ProjectView{gate: gate, ids: []umpire.ProjectID{""}}, nil
	}
	p, err := a.FindProject(a.Dir)
	if err != nil {
		return nil, err
	}
	v := &ProjectView{gate: gate, project: p, ids: []umpire.ProjectID{p.ID}}
	v.addID(p.Former)
	if as != PersonCredential {
		return v, nil
	}
	sessions, err := v.Sessions(ctx, 0)
	for i := range sessions {
		v.addID(sessions[i].Project)
	}
	return v, err
}

// Folders shorten the paths of the view's calls. Those of all projects have no common root.
func (v *ProjectView) Folders(home string) view.Folders {
	in := view.Folders{Home: home}
	if v.project != nil {
		in.Root = v.project.Root
	}
	return in
}

func (v *ProjectView) addID(id umpire.ProjectID) {
	if id != "" && !slices.Contains(v.ids, id) {
		v.ids = append(v.ids, id)
	}
}

// Sessions lists the sessions, the latest activity first. 0 means no limit.
func (v *ProjectView) Sessions(ctx context.Context, limit int) ([]umpire.Session, error) {
	if v.project == nil {
		return v.gate.Sessions().List(ctx, umpire.SessionQuery{Limit: limit})
	}
	list, err := v.gate.Sessions().List(ctx, umpire.SessionQuery{})
	list = slices.DeleteFunc(list, func(s umpire.Session) bool { return !v.project.Has(&s) })
	return clip(list, limit), err
}

// Pending lists the questions that wait, the oldest first. 0 means no limit.
func (v *ProjectView) Pending(ctx context.Context, limit int) (list []umpire.Pending, err error) {
	for _, id := range v.ids {
		part, err := v.gate.Pending(ctx, umpire.PendingQuery{Project: id, Limit: limit})
		if err != nil {
			return nil, err
		}
		list = append(list, part...)
	}
	if len(v.ids) > 1 {
		slices.SortStableFunc(list, func(a, b umpire.Pending) int { return a.AskedAt.Compare(b.AskedAt) })
	}
	return clip(list, limit), nil
}

func clip[T any](list []T, limit int) []T {
	if limit > 0 && len(list) > limit {
		return list[:limit]
	}
	return list
}

// Events returns the events that a filter finds, the oldest first. The filter names no project; of its limits it
// may have Last.
func (v *ProjectView) Events(ctx context.Context, f umpire.Filter) (list []umpire.Event, err error) {
	for _, id := range v.ids {
		f.Project = id
		part, err := v.gate.Events(ctx, f)
		if err != nil {
			return nil, err
		}
		list = append(list, part...)
	}
	if len(v.ids) > 1 {
		slices.SortFunc(list, func(a, b umpire.Event) int { return cmp.Compare(a.Seq, b.Seq) })
	}
	if f.Last > 0 && len(list) > f.Last {
		list = list[len(list)-f.Last:]
	}
	return list, nil
}

// Watch yields the events that a filter finds as they come, until ctx ends or an error is yielded. The order of
// events of different ids may differ from that on the timeline.
func (v *ProjectView) Watch(ctx context.Context, f umpire.Filter) iter.Seq2[umpire.Event, error] {
	if f.Project = v.ids[0]; len(v.ids) == 1 {
		return v.gate.Watch(ctx, f)
	}
	type entry struct {
		event umpire.Event
		err   error
	}
	return func(yield func(umpire.Event, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		entries, ended := make(chan entry), make(chan struct{}, len(v.ids))
		for _, id := range v.ids {
			go func() {
				defer func() { ended <- struct{}{} }()
				f := f
				f.Project = id
				for e, err := range v.gate.Watch(ctx, f) {
					select {
					case entries <- entry{e, err}:
					case <-ctx.Done():
						return
					}
				}
			}()
		}
		left := len(v.ids)
		defer func() {
			for stop(); left > 0; left-- {
				<-ended
			}
		}()
		for left > 0 {
			select {
			case e := <-entries:
				if !yield(e.event, e.err) || e.err != nil {
					return
				}
			case <-ended:
				left--
			}
		}
	}
}

// sincePage is how many events Since reads at a time.
const sincePage = 500

// Since yields the stored events since a time, those of one id of the project after those of another; the zero time
// yields all of them. It reads page by page, and yields an error at most once, as the last.
func (v *ProjectView) Since(ctx context.Context, from time.Time) iter.Seq2[umpire.Event, error] {
	return func(yield func(umpire.Event, error) bool) {
		for _, id := range v.ids {
			f := umpire.Filter{Project: id, Limit: sincePage}
			var err error
			if f.After, err = v.lastBefore(ctx, id, from); err != nil {
				yield(umpire.Event{}, err)
				return
			}
			for {
				page, err := v.gate.Events(ctx, f)
				if err != nil {
					yield(umpire.Event{}, err)
					return
				}
				for i := range page {
					if !page[i].At.Before(from) && !yield(page[i], nil) {
						return
					}
				}
				if len(page) < f.Limit {
					break
				}
				f.After = umpire.LastSeq(page)
			}
		}
	}
}

// lastBefore returns the number of an event that is older than a time, or 0. Clocks step, so it is near the last one.
func (v *ProjectView) lastBefore(ctx context.Context, id umpire.ProjectID, from time.Time) (int64, error) {
	if from.IsZero() {
		return 0, nil
	}
	last, err := v.gate.Events(ctx, umpire.Filter{Project: id, Last: 1})
	if err != nil || len(last) == 0 {
		return 0, err
	}
	low, high := int64(0), last[0].Seq // the answer is in low..high
	for low < high {
		middle := low + (high-low)/2
		next, err := v.gate.Events(ctx, umpire.Filter{Project: id, After: middle, Limit: 1})
		if err != nil {
			return 0, err
		}
		if len(next) > 0 && next[0].At.Before(from) {
			low = next[0].Seq
		} else {
			high = middle
		}
	}
	return low, nil
}
