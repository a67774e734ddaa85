package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
)

// placeholderMode marks an empty folder as ours, because no other program uses this mode.
const placeholderMode = 0o500 | fs.ModeSticky

// A placeholder takes the place of a missing guarded path, because the sandbox needs
// something to mount over. Without it a command could create the path. It is an empty
// folder, which git ignores, and is removed when the last command that needs it has
// ended.
type placeholder struct {
	root *os.Root // the writable folder that holds it
	name string
	dir  *os.File // locked while it is needed
}

// holdPlace makes a placeholder, or shares that of another command. That command may
// still run and change the name, so all operations use open folders, and a link is an
// error.
func holdPlace(root *os.Root, name string) (*placeholder, error) {
	for {
		if err := makePlaceholder(root, name); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if info, err := root.Lstat(name); err == nil && !info.IsDir() {
			return nil, umpire.Errorf("%s: occupied by something else", name)
		}
		p, err := lockPlace(root, name)
		if err == nil && p.same() {
			return p, nil
		}
		if err == nil {
			_ = p.dir.Close() // it was only read
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		// Its last user has just removed it.
	}
}

// makePlaceholder makes an empty folder with its mark from the start, so it is never
// mistaken for a user's folder.
func makePlaceholder(root *os.Root, name string) error {
	parent, err := root.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer parent.Close()
	return unix.Mkdirat(int(parent.Fd()), filepath.Base(name), 0o500|unix.S_ISVTX)
}

// lockPlace opens a placeholder and locks it.
func lockPlace(root *os.Root, name string) (*placeholder, error) {
	dir, err := root.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_SH); err != nil {
		_ = dir.Close() // it was only read
		return nil, err
	}
	return &placeholder{root: root, name: name, dir: dir}, nil
}

// release removes the placeholder unless another command needs it.
func (p *placeholder) release() {
	defer p.dir.Close()
	if unix.Flock(int(p.dir.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return
	}
	info, err := p.dir.Stat()
	if err == nil && info.Mode()&(fs.ModePerm|fs.ModeSticky) == placeholderMode && p.same() {
		_ = p.root.Remove(p.name) // it fails if the folder is not empty and thus not ours any more
	}
}

// same reports whether the name still refers to the opened folder.
func (p *placeholder) same() bool {
	opened, err := p.dir.Stat()
	if err != nil {
		return false
	}
	now, err := p.root.Lstat(p.name)
	return err == nil && os.SameFile(opened, now)
}

// hasMark reports whether a path is a placeholder. A command can make a folder look like
// one only if the folder is empty. A folder that was removed meanwhile counts as one.
func hasMark(path string, info fs.FileInfo) bool {
	if !info.IsDir() || info.Mode()&(fs.ModePerm|fs.ModeSticky) != placeholderMode {
		return false
	}
	entries, err := os.ReadDir(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0
}
