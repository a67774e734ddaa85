package rulefile

import (
	"errors"
	"time"

	"github.com/umpirehq/umpire"
)

// lockWait limits the wait for another writer, which needs milliseconds. lockRetry is
// the pause between two attempts; a blocking lock would not do because systems differ
// too much in how to cancel it.
const (
	lockWait  = 10 * time.Second
	lockRetry = 2 * time.Millisecond
)

// errBusy says that another process holds the lock.
var errBusy = errors.New("locked by another process")

// lockFile takes the lock of a file against other goroutines and processes.
func lockFile(path string) (unlock func(), err error) {
	name := path + ".lock"
	for deadline := time.Now().Add(lockWait); ; {
		unlock, err = tryLock(name)
		if !errors.Is(err, errBusy) || time.Now().After(deadline) {
			break
		}
		time.Sleep(lockRetry)
	}
	if err != nil {
		return nil, umpire.Errorf("lock %s: %w", escapeControl(name), err)
	}
	return unlock, nil
}
