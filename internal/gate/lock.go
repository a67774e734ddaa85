package gate

import (
	"context"
	"sync"
)

// A keyedLock is a lock for each key. The zero value is ready.
type keyedLock struct {
	taken sync.Map // each locked key has a channel that is closed on unlock
}

// lock waits until the key is free and locks it. The returned function unlocks it.
func (k *keyedLock) lock(ctx context.Context, key string) (unlock func(), err error) {
	left := make(chan struct{})
	for {
		busy, held := k.taken.LoadOrStore(key, left)
		if !held {
			return func() { k.taken.Delete(key); close(left) }, nil
		}
		select {
		case <-busy.(chan struct{}): //nolint:forcetypeassert // it holds nothing else
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// awaitFree waits until all keys are unlocked.
func (k *keyedLock) awaitFree(ctx context.Context, keys ...string) error {
	for _, key := range keys {
		unlock, err := k.lock(ctx, key)
		if err != nil {
			return err
		}
		unlock()
	}
	return nil
}
