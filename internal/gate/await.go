package gate

import (
	"context"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// maxWait bounds one Await; a caller that wants to wait longer calls it again.
const maxWait = 10 * time.Minute

// Pauses before following the timeline again after an error.
const (
	firstRetry   = 100 * time.Millisecond
	longestRetry = 5 * time.Second
)

// Await returns a batch once it no longer waits for a person, or its current state when the time is
// up. It waits ten minutes at most.
func (g *Gate) Await(
	ctx context.Context, session umpire.SessionID, id umpire.BatchID, wait time.Duration,
) (umpire.Batch, error) {
	b, err := g.Batch(ctx, session, id)
	if err != nil || b.State != umpire.BatchWaiting || wait <= 0 {
		return b, err
	}
	timeout := time.NewTimer(min(wait, maxWait))
	defer timeout.Stop()
	news, leave, err := g.news.subscribe(ctx, g, session)
	if err != nil {
		return b, err
	}
	defer leave()
	for {
		// Subscribe before reading the state, or an event in between would be missed.
		state, err := readIn(ctx, g.be.view, func(tx *store.Tx) (umpire.BatchState, error) {
			return tx.Batches.GetState(session, id)
		})
		if err != nil || state != umpire.BatchWaiting {
			return g.Batch(ctx, session, id)
		}
		select {
		case <-news:
		case <-timeout.C:
			return g.Batch(ctx, session, id)
		case <-ctx.Done():
			return umpire.Batch{}, ctx.Err()
		}
	}
}

// A sessionNews tells subscribers when something happens in their session. One reader follows the
// timeline for all of them while there are any. An event wakes only the subscribers of its session,
// which then read the store.
type sessionNews struct {
	mu          sync.Mutex
	subscribers map[umpire.SessionID]map[chan struct{}]bool
	count       int
	stop        func() // stops the reader and waits for it
}

// subscribe returns a channel that receives a value after events of a session. One value may stand
// for several events.
func (n *sessionNews) subscribe(
	ctx context.Context, g *Gate, session umpire.SessionID,
) (<-chan struct{}, func(), error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.count == 0 {
		if err := n.start(ctx, g); err != nil {
			return nil, nil, err
		}
	}
	n.count++
	news := make(chan struct{}, 1)
	if n.subscribers[session] == nil {
		n.subscribers[session] = map[chan struct{}]bool{}
	}
	n.subscribers[session][news] = true
	return news, func() { n.unsubscribe(session, news) }, nil
}

func (n *sessionNews) unsubscribe(session umpire.SessionID, news chan struct{}) {
	n.mu.Lock()
	delete(n.subscribers[session], news)
	if len(n.subscribers[session]) == 0 {
		delete(n.subscribers, session)
	}
	n.count--
	last, stop := n.count == 0, n.stop
	n.mu.Unlock()
	if last {
		stop()
	}
}

// start begins to follow the timeline after its last event. It runs with mu held.
func (n *sessionNews) start(ctx context.Context, g *Gate) error {
	last, err := g.Events(ctx, umpire.Filter{Last: 1})
	if err != nil {
		return err
	}
	n.subscribers = map[umpire.SessionID]map[chan struct{}]bool{}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var done sync.WaitGroup
	done.Go(func() { n.follow(ctx, g, umpire.LastSeq(last)) })
	n.stop = func() { cancel(); done.Wait() }
	return nil
}

// follow notifies subscribers until ctx ends. After an error it resumes where it left off.
func (n *sessionNews) follow(ctx context.Context, g *Gate, after int64) {
	for retry := firstRetry; ctx.Err() == nil; retry = min(2*retry, longestRetry) {
		for e, err := range g.Watch(ctx, umpire.Filter{After: after}) {
			if err != nil {
				if g.be.config.Warn != nil {
					g.be.config.Warn(err)
				}
				break
			}
			after, retry = e.Seq, firstRetry
			n.notify(e.Session)
		}
		select {
		case <-ctx.Done():
		case <-time.After(retry):
		}
	}
}

func (n *sessionNews) notify(session umpire.SessionID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for news := range n.subscribers[session] {
		select {
		case news <- struct{}{}:
		default: // the previous signal is still pending
		}
	}
}
