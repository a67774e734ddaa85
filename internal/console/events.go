package console

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

const (
	eventsPath = "/events"
	beatTime   = 15 * time.Second
	stallTime  = 10 * time.Second // the longest that a write may take
	// quietTime is the shortest time between two events for a page. Changes in between are merged.
	quietTime = 100 * time.Millisecond
)

// streamEvents tells a page about changes, as server-sent events: "pending" for new or settled
// questions, "event" for all else. The data is the last event's number.
func (c *Console) streamEvents(w http.ResponseWriter, r *http.Request) {
	leave := c.config.Attend()
	defer leave()
	ctx, cancel := context.WithCancel(r.Context())
	var follows sync.WaitGroup
	defer follows.Wait()
	defer cancel()
	last, err := c.config.Gate.Events(ctx, umpire.Filter{Last: 1})
	if err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	changes := make(chan change, 1)
	follows.Go(func() {
		defer close(changes)
		c.readChanges(ctx, umpire.LastSeq(last), changes)
	})
	w.Header().Set("Content-Type", "text/event-stream")
	out := &eventStream{w: w, control: http.NewResponseController(w)}
	_ = out.control.SetReadDeadline(time.Time{}) // the request is read, and the answer continues
	beat := time.NewTicker(beatTime)
	defer beat.Stop()
	for ok := out.push(": here\n\n"); ok; {
		select {
		case at, more := <-changes:
			if ok = more; ok {
				ok = out.push(at.message())
				waitQuietTime(ctx)
			}
		case <-beat.C:
			ok = out.push(": here\n\n")
		case <-ctx.Done():
			return
		}
	}
}

// A change sums up the events since the last update of a page.
type change struct {
	pending bool // questions came or went
	seq     int64
}

func (c change) message() string {
	name := "event"
	if c.pending {
		name = "pending"
	}
	return fmt.Sprintf("id: %d\nevent: %s\ndata: %d\n\n", c.seq, name, c.seq)
}

// readChanges reads the timeline after an event until ctx ends. It merges changes until the page
// receives them.
func (c *Console) readChanges(ctx context.Context, after int64, changes chan change) {
	for e, err := range c.config.Gate.Watch(ctx, umpire.Filter{After: after}) {
		if err != nil {
			return
		}
		next := change{view.ChangesPending(e.Kind), e.Seq}
		select {
		case before := <-changes:
			next.pending = next.pending || before.pending
		default:
		}
		changes <- next // never blocks: only this goroutine sends
	}
}

func waitQuietTime(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(quietTime):
	}
}

// An eventStream writes to a page, which may have stopped reading.
type eventStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (s *eventStream) push(text string) (ok bool) {
	_ = s.control.SetWriteDeadline(time.Now().Add(stallTime)) // a writer without deadlines does not stall
	_, err := s.w.Write([]byte(text))
	return err == nil && s.control.Flush() == nil
}
