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

// The newest events are kept for subscribers. A subscriber who falls behind this window
// reads from the store again.
const (
	windowFrames = 4096
	windowBytes  = 16 << 20
)

const (
	pageSize   = 256 // events that are read from the store at a time
	maxReading = 2   // subscribers that read from the store at once; more of them keep hooks waiting for a processor
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
	body: 30 * time.Second, beat: 15 * time.Second, stall: 10 * time.Second,
	farewell: time.Minute, goodbye: 2 * time.Second,
}

// A broker follows the timeline once, for all subscribers. It begins when the first of
// them comes and ends with close. It never waits for a subscriber: see window.
type broker struct {
	timeline umpire.Watcher
	log      *slog.Logger
	pace     pace
	limits   Limits
	reading  chan struct{} // holds one for each that reads from the store
	draining chan struct{} // closed when subscribers are to go
	recent   atomic.Pointer[window]
	owned    sync.WaitGroup

	mu     sync.Mutex
	counts [rolePerson + 1]int // of subscribers and of requests that are held
	cancel context.CancelFunc  // ends following; nil before it has begun
}

// A window has the newest events. It never changes: when an event comes, the next window
// takes its place.
type window struct {
	frames []*frame
	bytes  int
	floor  int64         // it has every event after this one
	tip    int64         // the last event that was seen
	next   chan struct{} // closed when the next window is there
}

func newBroker(t umpire.Watcher, log *slog.Logger, p pace, l Limits) *broker {
	b := &broker{
		timeline: t, log: log, pace: p, limits: l,
		reading: make(chan struct{}, maxReading), draining: make(chan struct{}),
	}
	b.recent.Store(&window{next: make(chan struct{})})
	return b
}

// enter counts a subscriber or a held request in. leave counts it out again; close waits
// for that.
func (b *broker) enter(r role) (leave func(), err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.isDraining():
		return nil, errDraining
	case b.counts[r] >= b.limits.Watchers:
		return nil, &failure{code: connect.CodeResourceExhausted, word: wordLimit, text: "too many watchers"}
	}
	b.counts[r]++
	b.owned.Add(1)
	return func() {
		b.mu.Lock()
		b.counts[r]--
		b.mu.Unlock()
		b.owned.Done()
	}, nil
}

// start begins to follow the timeline, unless it is followed. Only a subscriber that has
// entered calls it.
func (b *broker) start(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cancel != nil {
		return nil
	}
	last, err := b.timeline.Events(ctx, umpire.Filter{Last: 1})
	if err != nil {
		return err
	}
	tip := umpire.LastSeq(last)
	b.recent.Store(&window{floor: tip, tip: tip, next: make(chan struct{})})
	ctx, b.cancel = context.WithCancel(context.WithoutCancel(ctx))
	b.owned.Go(func() { b.follow(ctx) })
	return nil
}

// follow takes events as they commit. When the timeline fails, it goes on from where it
// was.
func (b *broker) follow(ctx context.Context) {
	for wait := minRetry; ctx.Err() == nil; wait = min(2*wait, maxRetry) {
		for e, err := range b.timeline.Watch(ctx, umpire.Filter{After: b.recent.Load().tip}) {
			if err != nil {
				if ctx.Err() == nil {
					b.log.Error("following the timeline", "error", err)
				}
				break
			}
			b.publish(e)
			wait = minRetry
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// publish replaces the window by one with another event, and without the oldest ones when
// it is full.
func (b *broker) publish(e umpire.Event) {
	now, f := b.recent.Load(), newFrame(e)
	if e.Seq <= now.tip {
		return
	}
	next := &window{frames: now.frames, bytes: now.bytes + f.size(), floor: now.floor, tip: e.Seq,
		next: make(chan struct{})}
	for len(next.frames) >= windowFrames || len(next.frames) > 0 && next.bytes > windowBytes {
		next.bytes -= next.frames[0].size()
		next.floor = next.frames[0].event.Seq
		next.frames = next.frames[1:]
	}
	next.frames = append(next.frames, f) // nobody else appends, and nobody looks beyond their own end
	b.recent.Store(next)
	close(now.next)
}

// after returns the frames after a number. It is not ok when some of them have left the
// window.
func (w *window) after(seq int64) (frames []*frame, ok bool) {
	if seq < w.floor {
		return nil, false
	}
	first := sort.Search(len(w.frames), func(i int) bool { return w.frames[i].event.Seq > seq })
	return w.frames[first:], true
}

// drain tells all subscribers to resume elsewhere, and lets no others in.
func (b *broker) drain() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.isDraining() {
		close(b.draining)
	}
}

func (b *broker) isDraining() bool {
	select {
	case <-b.draining:
		return true
	default:
		return false
	}
}

// untilDraining returns a context that ends when the broker drains, too.
func (b *broker) untilDraining(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	b.owned.Go(func() {
		select {
		case <-b.draining:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, cancel
}

// close ends the broker and waits for all that it started.
func (b *broker) close() {
	b.drain()
	b.mu.Lock()
	cancel := b.cancel
	b.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	b.owned.Wait()
}
