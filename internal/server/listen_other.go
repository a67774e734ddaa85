//go:build !unix

package server

import (
	"errors"
	"io/fs"
	"math"
	"os"
)

// ours returns true because this system's modes do not show the owner.
func ours(fs.FileInfo) bool { return true }

// refused treats any connection error as a dead gate, because the lock is held.
func refused(error) bool { return true }

// lockFile holds a file that no other process can make meanwhile.
func lockFile(path string) (*os.File, error) {
	// The file of a dead gate can be removed, an open one cannot.
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
}

// descriptorLimit returns how many files and connections the process may have open.
func descriptorLimit() int { return math.MaxInt32 }
