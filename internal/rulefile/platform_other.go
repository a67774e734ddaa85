//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package rulefile

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// openFlags is empty: pipes are not found under the names of files here.
const openFlags = 0

// staleLock is the age at which a lock file is taken for one left by a crash.
// Holding it takes milliseconds.
const staleLock = time.Minute

// ownedByAdmin is always false: access lists, which are not read here, decide about
// write access. The managed file's deny and ask rules apply anyway.
func ownedByAdmin(fs.FileInfo) bool { return false }

// fileNumber returns 0 because the number is not available here.
func fileNumber(fs.FileInfo) uint64 { return 0 }

// tryLock creates the lock file at path, or returns errBusy if it exists. The returned
// function removes it.
func tryLock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		f.Close()
		return func() { os.Remove(path) }, nil
	}
	if info, statErr := os.Lstat(path); statErr == nil && time.Since(info.ModTime()) > staleLock {
		os.Remove(path)
	}
	// A removed file that another process has open leaves a name that refuses access.
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrPermission) {
		return nil, errBusy
	}
	return nil, err
}

// writableByOthers is always false: modes have no meaning for access here.
func writableByOthers(fs.FileMode) bool { return false }

// WritableByAll is always false: modes have no meaning for access here.
func WritableByAll(string) bool { return false }
