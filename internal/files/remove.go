package files

import (
	"io/fs"
	"os"
	"path/filepath"
)

// RemoveTree deletes a folder of our own with all that is in it. Read-only folders go
// too, such as those of Go's cache of modules, and the folders without any permission that
// an overlay works in.
func RemoveTree(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o700) // before it is read
		}
		return err
	}) // what is in the way is said next
	return os.RemoveAll(dir)
}
