package notice

import (
	"context"
	"time"

	"github.com/umpirehq/umpire"
)

// Limits on the notices of one target.
const (
	maxQueued  = 64 // more are dropped and counted
	maxTries   = 6
	firstPause = time.Second // doubled each time
	maxPause   = 30 * time.Second
)

// A target is a server that takes notices. Only the goroutine of its queue sends.
type target interface {
	name() string
	deliver(ctx context.Context, n *notice) error
}

// A queue sends notices to one target, in order.
type queue struct {
	target

	items  chan *notice
	report *reporter
	pause  time.Duration // before the second try
	// delivered holds the questions that the target has seen: it gets answers only for these.
	delivered map[umpire.RequestID]bool
}

func newQueue(t target, report *reporter, pause time.Duration) *queue {
	return &queue{
		target: t, items: make(chan *notice, maxQueued), report: report, pause: pause,
		delivered: map[umpire.RequestID]bool{},
	}
}

// enqueue queues a notice. It never blocks: a notice that does not fit is dropped and counted.
func (q *queue) enqueue(n *notice) {
	select {
	case q.items <- n:
	default:
		q.report.countDrop(q.name())
	}
}

// deliverAll sends queued notices until ctx ends.
func (q *queue) deliverAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case n := <-q.items:
			if n.event == eventAnswered && !q.delivered[n.request] {
				continue
			}
			delete(q.delivered, n.request)
			if q.try(ctx, n) && n.event == eventWaiting {
				q.delivered[n.request] = true
			}
		}
	}
}

// try sends a notice, repeatedly if necessary, and reports whether it arrived. It skips a question
// that was answered meanwhile.
func (q *queue) try(ctx context.Context, n *notice) bool {
	pause := q.pause
	for tries := 1; ; tries++ {
		if n.event == eventWaiting && n.settled.Load() {
			return false
		}
		err := q.deliver(ctx, n)
		if ctx.Err() != nil {
			return false
		}
		last := err == nil || isFinal(err) || tries == maxTries
		q.report.note(q.name(), err, last)
		if last {
			return err == nil
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(pause):
			pause = min(2*pause, maxPause)
		}
	}
}
