package gate

import (
	"context"
	"sync"

	"github.com/umpirehq/umpire"
)

// A keyedLock is held by one submission of a batch at a time, so that one which
// comes twice at once runs its hooks once. The zero value is ready.
type keyedLock struct {
	mu    sync.Mutex
	taken map[submissionKey]chan struct{}
}

type submissionKey struct {
	session umpire.SessionID
	batch   umpire.BatchID
}

// lock waits until nobody else holds the key. The function that it returns lets the next
// one in.
func (k *keyedLock) lock(ctx context.Context, key submissionKey) (unlock func(), err error) {
	for {
		k.mu.Lock()
		busy, ok := k.taken[key]
		if !ok {
			break
		}
		k.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer k.mu.Unlock()
	if k.taken == nil {
		k.taken = map[submissionKey]chan struct{}{}
	}
	left := make(chan struct{})
	k.taken[key] = left
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.taken, key)
		close(left)
	}, nil
}
