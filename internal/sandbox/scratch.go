package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

// Forget deletes Scratch, when no command runs any more. Read-only files in it are removed
// too: go makes the modules that it fetches read-only, and only root could delete them
// otherwise.
func (p *Place) Forget() error {
	if os.RemoveAll(p.Scratch) == nil {
		return nil
	}
	_ = filepath.WalkDir(p.Scratch, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o700) // before it is read
		}
		return err
	}) // what is in the way is said next
	return os.RemoveAll(p.Scratch)
}
