package files

import (
	"io/fs"
	"os"
	"path/filepath"
)

// RemoveTree deletes one of our own folders with all its content. It also removes
// read-only folders, such as those of Go's module cache, and the inaccessible work
// folders of overlays.
func RemoveTree(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o700) // before it is read
		}
		return err
	}) // RemoveAll reports remaining obstacles
	return os.RemoveAll(dir)
}
