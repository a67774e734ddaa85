package server

import (
	"context"
	"log/slog"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"

	"github.com/umpirehq/umpire"
)

// The newest events are kept for watchers that follow. Who falls out of this
// window reads from the store again.
const (
	windowFrames = 1024
	windowBytes  = 16 << 20
)

const (
	pageSize   = 256 // events that are read from the store at a time
	maxReading = 16  // watchers that read from the store at once
	minRetry   = 100 * time.Millisecond
	maxRetry   = 5 * time.Second
)

// A pace says how often and how long a server waits.
type pace struct {
	body     time.Duration // for the whole of a request
	beat     time.Duration // between two comments that say that the gate is there
	stall    time.Duration // a write may take so long
	farewell time.Duration // and the last one, which says where to resume, so long
	goodbye  time.Duration // but only so long once the gate goes away
}

var usualPace = pace{
	body: 30 * time.Second, beat: 15 * time.Second, stall: 10 * time.Second, farewell: time.Minute, goodbye: 2 * time.Second,
}

// A hub follows the timeline once, for all watchers. It begins when the first of
// them comes and ends with close.
type hub struct {
	timeline   umpire.Watcher
	log        *slog.Logger
	pace       pace
	limits     Limits
	watchers   [rolePerson + 1]atomic.Int64
	leaves     [rolePerson + 1]func() // one for all of a role: there are many watchers
	reading    chan struct{}          // holds one for each that reads from the store
	draining   chan struct{}          // closed when watchers are to go
	lanesMoved chan struct{}          // holds one once a lane has gone on
	owned      sync.WaitGroup
	lanes      []*lane
	nextLane   atomic.Uint32

	mu      sync.Mutex
	running bool
	drained bool
	cancel  context.CancelFunc
	window  []*frame
	bytes   int
	floor   int64         // the window has every event after this one
	tip     int64         // the last event that was seen
	changed chan struct{} // closed when tip grows
}

func newHub(t umpire.Watcher, log *slog.Logger, p pace, l Limits) *hub {
	h := &hub{
		timeline: t, log: log, pace: p, limits: l,
		reading: make(chan struct{}, maxReading), draining: make(chan struct{}), changed: make(chan struct{}),
		lanesMoved: make(chan struct{}, 1),
	}
	for r := range h.leaves {
		h.leaves[r] = func() { h.watchers[r].Add(-1); h.owned.Done() }
	}
	h.lanes = newLanes(h)
	return h
}

// enter counts a watcher in, and begins to follow the timeline. leave counts it
// out again; close waits for that.
func (h *hub) enter(ctx context.Context, r role) (leave func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.drained:
		return nil, &failure{code: connect.CodeUnavailable, word: wordDraining, text: "the gate is going away"}
	case h.watchers[r].Load() >= int64(h.limits.Watchers):
		return nil, &failure{code: connect.CodeResourceExhausted, word: wordLimit, text: "too many watchers"}
	}
	if err := h.begin(ctx); err != nil {
		return nil, err
	}
	h.watchers[r].Add(1)
	h.owned.Add(1)
	return h.leaves[r], nil
}

// begin runs with h.mu held.
func (h *hub) begin(ctx context.Context) error {
	if h.running {
		return nil
	}
	last, err := h.timeline.Events(ctx, umpire.Filter{Last: 1})
	if err != nil {
		return err
	}
	tip := umpire.LastSeq(last)
	h.floor, h.tip, h.running = tip, tip, true
	ctx, h.cancel = context.WithCancel(context.WithoutCancel(ctx))
	h.owned.Go(func() { h.run(ctx) })
	for _, l := range h.lanes {
		l.seq = tip
		h.owned.Go(func() { l.run(ctx) })
	}
	return nil
}

// run takes events as they commit. When the timeline fails it goes on from where
// it was.
func (h *hub) run(ctx context.Context) {
	wait := minRetry
	for ctx.Err() == nil {
		for e, err := range h.timeline.Watch(ctx, umpire.Filter{After: h.seen()}) {
			if err != nil {
				if ctx.Err() == nil {
					h.log.Error("following the timeline", "error", err)
				}
				break
			}
			h.publish(ctx, e)
			wait = minRetry
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		wait = min(2*wait, maxRetry)
	}
}

func (h *hub) seen() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tip
}

// publish adds an event to the window, and takes the oldest ones out once every
// lane has had them. Lanes do not wait for readers, so this is never long.
func (h *hub) publish(ctx context.Context, e umpire.Event) {
	f := newFrame(e)
	if floor := h.overflow(f); !h.awaitLanes(ctx, floor) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.Seq <= h.tip {
		return
	}
	for h.full(f) {
		h.bytes -= h.window[0].size()
		h.floor = h.window[0].event.Seq
		h.window[0] = nil
		h.window = h.window[1:]
	}
	h.window = append(h.window, f)
	h.bytes += f.size()
	h.tip = e.Seq
	close(h.changed)
	h.changed = make(chan struct{})
}

// full reports whether there is no room for a frame. It runs with mu held.
func (h *hub) full(f *frame) bool {
	return len(h.window) >= windowFrames || len(h.window) > 0 && h.bytes+f.size() > windowBytes
}

// overflow returns the number of the last frame that has to make room, 0 for none.
func (h *hub) overflow(f *frame) (floor int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	count, bytes := len(h.window), h.bytes+f.size()
	for i := 0; i < len(h.window) && (count >= windowFrames || bytes > windowBytes); i++ {
		count--
		bytes -= h.window[i].size()
		floor = h.window[i].event.Seq
	}
	return floor
}

// awaitLanes waits until every lane has had all up to a number.
func (h *hub) awaitLanes(ctx context.Context, seq int64) bool {
	for _, l := range h.lanes {
		for l.at() < seq {
			select {
			case <-h.lanesMoved:
			case <-h.draining:
				return false
			case <-ctx.Done():
				return false
			}
		}
	}
	return true
}

// moved says that a lane has gone on.
func (h *hub) moved() {
	select {
	case h.lanesMoved <- struct{}{}:
	default:
	}
}

// after returns the frames after a number, and a channel that is closed when there
// are more. It is not ok when some of them have left the window.
func (h *hub) after(seq int64) (frames []*frame, changed <-chan struct{}, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if seq < h.floor {
		return nil, h.changed, false
	}
	first := sort.Search(len(h.window), func(i int) bool { return h.window[i].event.Seq > seq })
	// A copy: the window forgets frames in place.
	return append([]*frame(nil), h.window[first:]...), h.changed, true
}

// covers reports whether the window has all that comes after a number. If not, tip
// is a number up to which the store has everything.
func (h *hub) covers(seq int64) (tip int64, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tip, seq >= h.floor
}

// drain tells all watchers to resume elsewhere, and lets no others in.
func (h *hub) drain() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.drained {
		h.drained = true
		close(h.draining)
	}
}

// untilDraining returns a context that ends when the hub drains, too.
func (h *hub) untilDraining(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	h.owned.Go(func() {
		select {
		case <-h.draining:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, cancel
}

func (h *hub) isDraining() bool {
	select {
	case <-h.draining:
		return true
	default:
		return false
	}
}

// close ends the hub and waits for all that it started.
func (h *hub) close() {
	h.drain()
	h.mu.Lock()
	cancel := h.cancel
	h.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	h.owned.Wait()
}
