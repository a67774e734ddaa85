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

// The broker keeps the newest events for subscribers. A subscriber that falls behind this
// window reads from the store again.
const (
	windowFrames = 4096
	windowBytes  = 16 << 20
)

const (
	pageSize   = 256 // events read from the store at a time
	maxReading = 2   // concurrent readers of the store; more would delay hooks
	minRetry   = 100 * time.Millisecond
	maxRetry   = 5 * time.Second
)

// A pace sets the server's timeouts and intervals.
type pace struct {
	body     time.Duration // limit for reading a whole request
	beat     time.Duration // interval of the comments that keep a stream alive
	stall    time.Duration // limit for one write
	farewell time.Duration // limit for the last write, which says where to resume
	goodbye  time.Duration // limit for the last write while the gate is stopping
}

var usualPace = pace{
	body: 30 * time.Second, beat: 15 * time.Second, stall: 10 * time.Second,
	farewell: time.Minute, goodbye: 2 * time.Second,
}

// A broker follows the timeline once for all subscribers. It starts with the first one
// and stops with close. It never waits for a subscriber: see window.
type broker struct {
	timeline umpire.Watcher
	log      *slog.Logger
	pace     pace
	limits   Limits
	reading  chan struct{} // has an entry for each subscriber reading from the store
	draining chan struct{} // closed when subscribers should leave
	recent   atomic.Pointer[window]
	owned    sync.WaitGroup

	mu     sync.Mutex
	counts [rolePerson + 1]int // subscribers and held requests
	cancel context.CancelFunc  // stops following; nil if it has not started
}

// A window has the newest events. It is immutable: a new event creates the next window.
type window struct {
	frames []*frame
	bytes  int
	floor  int64         // it has every event after this one
	tip    int64         // the last event seen
	next   chan struct{} // closed when there is a next window
}

func newBroker(t umpire.Watcher, log *slog.Logger, p pace, l Limits) *broker {
	b := &broker{
		timeline: t, log: log, pace: p, limits: l,
		reading: make(chan struct{}, maxReading), draining: make(chan struct{}),
	}
	b.recent.Store(&window{next: make(chan struct{})})
	return b
}

// enter registers a subscriber or a held request. leave unregisters it; close waits for
// that.
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

// start starts following the timeline, unless it is already followed. Only a registered
// subscriber may call it.
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

// follow publishes events as they are committed. After an error it resumes at the same
// place.
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

// publish replaces the window by one with another event, dropping the oldest ones when it
// is full.
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
	next.frames = append(next.frames, f) // only publish appends, and readers never look beyond their own length
	b.recent.Store(next)
	close(now.next)
}

// after returns the frames after a number. ok is false if some of them have left the
// window.
func (w *window) after(seq int64) (frames []*frame, ok bool) {
	if seq < w.floor {
		return nil, false
	}
	first := sort.Search(len(w.frames), func(i int) bool { return w.frames[i].event.Seq > seq })
	return w.frames[first:], true
}

// drain tells all subscribers to resume elsewhere, and refuses new ones.
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

// untilDraining returns a context that is also canceled when the broker drains.
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

// close stops the broker and waits for its goroutines.
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
