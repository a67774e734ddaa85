package sandbox

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// placeholderMode marks an empty folder as one of ours, which no one else makes so.
const placeholderMode = 0o500 | fs.ModeSticky

// A placeholder stands where something guarded is missing, so that the sandbox has
// something to hold in place: without it a command could make the missing thing. It
// is an empty folder, which git does not see, and is taken away when the last
// command that needs it has ended.
type placeholder struct {
	path string
	dir  *os.File // locked as long as it is needed
}

// holdPlace makes a placeholder, or shares the one that another command made. It
// returns nil where something else came to be there.
func holdPlace(path string) (*placeholder, error) {
	for {
		err := os.Mkdir(path, 0o500)
		if err == nil {
			err = os.Chmod(path, placeholderMode)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		dir, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue // its last user took it away just now
		}
		if err != nil {
			return nil, err
		}
		if err := unix.Flock(int(dir.Fd()), unix.LOCK_SH); err != nil {
			_ = dir.Close() // it was only read
			return nil, err
		}
		if same(dir, path) {
			return &placeholder{path: path, dir: dir}, nil
		}
		_ = dir.Close() // it was only read
	}
}

// release takes the placeholder away unless another command needs it.
func (p *placeholder) release() {
	defer p.dir.Close()
	if unix.Flock(int(p.dir.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return
	}
	info, err := os.Lstat(p.path)
	if err == nil && info.Mode()&(fs.ModePerm|fs.ModeSticky) == placeholderMode && same(p.dir, p.path) {
		_ = os.Remove(p.path) // it is not ours any more when it holds something
	}
}

// same reports whether a path still leads to the folder that was opened.
func same(dir *os.File, path string) bool {
	opened, err := dir.Stat()
	if err != nil {
		return false
	}
	now, err := os.Lstat(path)
	return err == nil && os.SameFile(opened, now)
}

// isPlaceholder reports whether a path is a placeholder, in use or left behind.
func isPlaceholder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir() && info.Mode()&(fs.ModePerm|fs.ModeSticky) == placeholderMode
}
