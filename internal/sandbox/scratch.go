package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Forget deletes Scratch, when no command runs any more. What programs have made
// read-only in it goes too: go does that with the modules that it fetches, and nobody but
// root could delete them.
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
