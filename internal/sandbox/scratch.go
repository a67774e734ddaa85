package sandbox

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire/internal/files"
)

// scratchPrefix begins the names of the folders that MakeScratch makes.
const scratchPrefix = "umpire-run-"

// scratchLock is a file in such a folder, locked as long as the process that made it lives.
const scratchLock = "lock"

// MakeScratch makes a private folder for Scratch in a folder, and how to let go of it, once
// it is forgotten.
func MakeScratch(parent string) (dir string, release func(), err error) {
	if dir, err = os.MkdirTemp(parent, scratchPrefix); err != nil {
		return "", nil, err
	}
	if release, err = lockScratch(dir); err != nil {
		_ = os.Remove(dir) // the first error says more
		return "", nil, err
	}
	return dir, release, nil
}

// SweepScratch deletes the folders that processes of this user have left which were killed.
func SweepScratch(parent string) {
	entries, _ := os.ReadDir(parent) // what cannot be read holds none of ours
	for _, e := range entries {
		dir := filepath.Join(parent, e.Name())
		if !strings.HasPrefix(e.Name(), scratchPrefix) || !e.IsDir() {
			continue
		}
		if free, dead := seizeScratch(dir); dead {
			_ = (&Place{Scratch: dir}).Forget() // what is in the way waits for the next time
			free()
		}
	}
}

// Forget deletes Scratch, when no command runs any more.
func (p *Place) Forget() error { return files.RemoveTree(p.Scratch) }
