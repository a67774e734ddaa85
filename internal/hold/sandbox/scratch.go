package sandbox

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire/internal/files"
)

// scratchPrefix starts the names of the folders made by MakeScratch.
const scratchPrefix = "umpire-run-"

// scratchLock is a file in such a folder, locked while its process lives.
const scratchLock = "lock"

// MakeScratch makes a private folder for Scratch below parent. Call release after Forget
// has deleted the folder.
func MakeScratch(parent string) (dir string, release func(), err error) {
	if dir, err = os.MkdirTemp(parent, scratchPrefix); err != nil {
		return "", nil, err
	}
	if release, err = lockScratch(dir); err != nil {
		_ = os.Remove(dir) // the first error matters more
		return "", nil, err
	}
	return dir, release, nil
}

// SweepScratch deletes the folders that killed processes of this user have left.
func SweepScratch(parent string) {
	entries, _ := os.ReadDir(parent) // an unreadable folder has none of ours
	for _, e := range entries {
		dir := filepath.Join(parent, e.Name())
		if !strings.HasPrefix(e.Name(), scratchPrefix) || !e.IsDir() {
			continue
		}
		if free, dead := seizeScratch(dir); dead {
			_ = (&Place{Scratch: dir}).Forget() // leftovers wait for the next sweep
			free()
		}
	}
}

// Forget deletes Scratch. No command may be running.
func (p *Place) Forget() error { return files.RemoveTree(p.Scratch) }
