//go:build !unix

package server

import (
	"errors"
	"io/fs"
	"math"
	"os"
)

// ours is not told by this system's modes.
func ours(fs.FileInfo) bool { return true }

// refused takes any failure to connect for nobody there: the lock has been taken.
func refused(error) bool { return true }

// lockFile holds a file that no other process can make meanwhile.
func lockFile(path string) (*os.File, error) {
	// A file that a dead gate has left can be removed, one that is open cannot.
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
}

// descriptorLimit is how many files and connections the process may have open.
func descriptorLimit() int { return math.MaxInt32 }
