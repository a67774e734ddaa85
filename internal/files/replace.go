package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/umpirehq/umpire"
)

// Replace replaces a file's content atomically and durably: readers see either the old or
// the new text, even after a power loss. A link is replaced, not followed.
func Replace(path string, data []byte, mode fs.FileMode) (err error) {
	defer func() {
		if err != nil {
			err = umpire.Errorf("write %q: %w", path, err)
		}
	}()
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // no effect after the rename
	if err := errors.Join(fillFile(f, data, mode), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

func fillFile(f *os.File, data []byte, mode fs.FileMode) error {
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}

// SyncFolder makes a rename in a folder survive a power loss, on systems where folders
// can be flushed.
func SyncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
