package gate

import (
	"context"
	"iter"
	"math"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// pageSize is how many events are read at a time.
const pageSize = 500

// Events returns stored events in their order.
func (g *Gate) Events(ctx context.Context, f umpire.Filter) ([]umpire.Event, error) {
	p, err := readIn(ctx, g.be.view, func(tx *store.Tx) (page, error) { return readEvents(tx, f) })
	return p.events, err
}

// A page is a run of events, complete up to a sequence number.
type page struct {
	events []umpire.Event
	upTo   int64
}

// readEvents reads events up to the point where events with smaller numbers may still commit:
// beyond it, one that was about to commit would be skipped. The events of one session commit in
// order, so for a session it reads to the last one.
func readEvents(tx *store.Tx, f umpire.Filter) (page, error) {
	horizon := int64(math.MaxInt64)
	if f.Session == "" {
		var err error
		if horizon, err = tx.Events.Horizon(); err != nil {
			return page{}, err
		}
	}
	if f.Last > 0 {
		events, err := tx.Events.ListLast(f, horizon)
		return page{events: events, upTo: max(umpire.LastSeq(events), f.After)}, err
	}
	events, err := tx.Events.List(f)
	if err != nil {
		return page{}, err
	}
	p := page{upTo: max(horizon, f.After)}
	for i := range events {
		if events[i].Seq > horizon {
			return page{events: events[:i], upTo: p.upTo}, nil
		}
	}
	p.events = events
	if f.Session != "" || f.Limit > 0 && len(events) == f.Limit {
		p.upTo = max(umpire.LastSeq(events), f.After)
	}
	return p, nil
}

// Watch yields the events after a sequence number, first stored ones and then new ones as they
// commit, until ctx ends or it yields an error. It never skips an event, in whichever order they
// commit.
func (g *Gate) Watch(ctx context.Context, f umpire.Filter) iter.Seq2[umpire.Event, error] {
	return func(yield func(umpire.Event, error) bool) {
		left := f.Limit
		for {
			if g.be.store == nil {
				yield(umpire.Event{}, errNoStore)
				return
			}
			// Take the bell before reading: a commit in between then rings it.
			bell := g.be.store.Changed()
			read := umpire.Filter{Project: f.Project, Session: f.Session, After: f.After, Limit: pageSize}
			p, err := readIn(ctx, g.be.view, func(tx *store.Tx) (page, error) {
				return readEvents(tx, read)
			})
			if err != nil {
				if ctx.Err() == nil {
					yield(umpire.Event{}, err)
				}
				return
			}
			for _, e := range p.events {
				if !yield(e, nil) {
					return
				}
				if left--; left == 0 {
					return
				}
			}
			f.After = p.upTo
			if len(p.events) == pageSize {
				continue
			}
			select {
			case <-ctx.Done():
				return
			case <-bell:
			}
		}
	}
}
