package server

import (
	"context"
	"time"

	"connectrpc.com/connect"

	"github.com/umpirehq/umpire"
)

// A watcher is what one reader wants and how far it is.
type watcher struct {
	project umpire.ProjectID
	session umpire.SessionID
	seq     int64 // it has had every event up to this one
}

func (w *watcher) wants(e *umpire.Event) bool {
	return (w.project == "" || w.project == e.Project) && (w.session == "" || w.session == e.Session)
}

// A sink is where a watcher's events go.
type sink interface {
	send(f *frame) error
	beat() error
}

// resume is the error that ends a watcher which is to go on elsewhere.
func (w *watcher) resume(word string) *failure {
	text := "the gate is going away; go on after the event named"
	if word == wordSlow {
		text = "the reader was too slow; go on after the event named"
	}
	return &failure{code: connect.CodeUnavailable, word: word, text: text, after: w.seq, resume: true}
}

// follow sends a watcher its events until ctx ends, the sink fails or the watcher
// has to resume: then the error is a *failure that says so.
func (h *hub) follow(ctx context.Context, w *watcher, out sink) error {
	beat := time.NewTicker(h.pace.beat)
	defer beat.Stop()
	for {
		changed, err := h.bring(ctx, w, out)
		if err != nil {
			return err
		}
		select {
		case <-changed:
		case <-beat.C:
			if err := out.beat(); err != nil {
				return err
			}
		case <-h.draining:
			return w.resume(wordDraining)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// bring sends a watcher all that there is up to now: from the store what has left
// the window, or was before it, and then the window. The channel is closed when
// there may be more.
func (h *hub) bring(ctx context.Context, w *watcher, out sink) (<-chan struct{}, error) {
	for {
		frames, changed, ok := h.after(w.seq)
		if !ok {
			if err := h.catchUp(ctx, w, out); err != nil {
				return nil, err
			}
			continue
		}
		for _, f := range frames {
			if w.wants(&f.event) {
				if err := out.send(f); err != nil {
					return nil, err
				}
			}
			w.seq = f.event.Seq
		}
		return changed, nil
	}
}

// catchUp sends a watcher what the store has, until the window goes on from there.
// When a page is not full, nothing that the watcher wants is left up to the tip
// that was seen before reading it.
func (h *hub) catchUp(ctx context.Context, w *watcher, out sink) error {
	for {
		tip, ok := h.covers(w.seq)
		if ok {
			return nil
		}
		if h.isDraining() {
			return w.resume(wordDraining)
		}
		page, err := h.page(ctx, w)
		if err != nil {
			return err
		}
		for i := range page {
			if err := out.send(newFrame(page[i])); err != nil {
				return err
			}
			w.seq = page[i].Seq
		}
		if len(page) < pageSize {
			w.seq = max(w.seq, tip)
		}
	}
}

func (h *hub) page(ctx context.Context, w *watcher) ([]umpire.Event, error) {
	select {
	case h.reading <- struct{}{}:
		defer func() { <-h.reading }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return h.timeline.Events(ctx, umpire.Filter{Project: w.project, Session: w.session, After: w.seq, Limit: pageSize})
}
