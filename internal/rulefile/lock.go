package rulefile

import (
	"errors"
	"time"

	"github.com/umpirehq/umpire"
)

// lockWait bounds the wait for another writer, who needs milliseconds.
// lockRetry is the pause between two tries: the systems differ too much in how
// a blocking lock can be given up.
const (
	lockWait  = 10 * time.Second
	lockRetry = 2 * time.Millisecond
)

// errBusy says that somebody else holds a lock.
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
