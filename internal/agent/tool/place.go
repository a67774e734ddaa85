package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A place is a name in an open folder. An operation on it affects that very folder,
// even if its path has since been moved.
type place struct {
	dir  *os.Root
	name string // "." is the folder itself
	path string // for display
}

func (p *place) closeDir() { _ = p.dir.Close() } // opened for lookups only: no data can be lost

var (
	errLink    = errors.New("a link has appeared since the decision")
	errChanged = errors.New("it was replaced while being opened")
)

// target writes a path of an input the way the decision does.
func (o *Options) target(u *use, path string) (string, error) {
	switch {
	case filepath.IsAbs(path):
		return path, nil
	case filepath.Separator == '/' && isWindowsPath(path):
		return "", fmt.Errorf("%s: this is a Windows path; use slashes and no drive letter", path)
	case path == "~" || strings.HasPrefix(path, "~/"):
		if o.Home == "" {
			return "", errors.New("the home directory is unknown")
		}
		return o.Home + path[1:], nil
	}
	return strings.TrimSuffix(u.call.Dir, "/") + "/" + path, nil
}

// isWindowsPath reports whether a path begins with a drive or names a share.
func isWindowsPath(path string) bool {
	drive := len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/')
	return drive || strings.HasPrefix(path, `\\`)
}

// decided returns the target of a path according to the decision. The decision must have
// exactly this path. If it does not have a target, the path itself must be free of links.
func (o *Options) decided(u *use, path string, kind umpire.AccessKind) (string, error) {
	target, err := o.target(u, path)
	if err != nil {
		return "", err
	}
	for i := range u.decision.Accesses {
		a := &u.decision.Accesses[i]
		if a.Kind != kind || a.Target != target {
			continue
		}
		if err := u.permits(i); err != nil {
			return "", err
		}
		if a.Resolved != "" {
			return a.Resolved, nil
		}
		return linkFree(target)
	}
	return "", fmt.Errorf("%s: the decision does not cover this path", path)
}

// permits rejects one access of a call whose others run: a decision that allows the
// call may exclude files, with a reason.
func (u *use) permits(access int) error {
	switch u.decision.Accesses[access].Verdict {
	case umpire.Allow:
		return nil
	case umpire.Ask:
		if u.preview {
			return nil
		}
	case umpire.Deny:
	}
	for _, r := range u.decision.Reasons {
		if r.Access == access {
			return errors.New(catalogue.English.Text(r.Text))
		}
	}
	return errors.New("the decision does not allow it")
}

// linkFree returns a path in its clean form if it has no links. Such a path means the
// same with and without resolving links.
func linkFree(path string) (string, error) {
	at := filepath.VolumeName(path) + string(filepath.Separator)
	for part := range strings.SplitSeq(filepath.ToSlash(path[len(filepath.VolumeName(path)):]), "/") {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		switch {
		case err == nil && info.Mode()&fs.ModeSymlink != 0:
			return "", fmt.Errorf("%s: leads through a link that the decision did not resolve", path)
		case err == nil:
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return "", namePathOnce(path, err)
		case strings.Contains(path, ".."):
			return "", fmt.Errorf("%s: cannot resolve .. in a path that does not exist yet", path)
		}
	}
	return filepath.Clean(path), nil
}

// openPlace reaches a decided path. With create, folders that are missing are made.
func (o *Options) openPlace(path string, create bool) (*place, error) {
	base, rest := o.anchor(path)
	dir, err := os.OpenRoot(base)
	if err != nil {
		return nil, namePathOnce(path, err)
	}
	parts := strings.Split(rest, string(filepath.Separator))
	for _, part := range parts[:len(parts)-1] {
		next, err := descendInto(dir, part, create)
		_ = dir.Close() // only looked through
		if err != nil {
			return nil, namePathOnce(path, err)
		}
		dir = next
	}
	return &place{dir: dir, name: orDot(parts[len(parts)-1]), path: path}, nil
}

// anchor splits a path into the folder from which it is reached step by step and
// the steps: the session's own folder that holds it, or the root of the system.
func (o *Options) anchor(path string) (base, rest string) {
	base = filepath.VolumeName(path) + string(filepath.Separator)
	for _, dir := range append([]string{o.Root}, o.AddDirs...) {
		if len(dir) > len(base) && (path == dir || strings.HasPrefix(path, dir+string(filepath.Separator))) {
			base = dir
		}
	}
	return base, strings.TrimPrefix(path[len(base):], string(filepath.Separator))
}

func orDot(name string) string {
	if name == "" {
		return "."
	}
	return name
}

// descendInto goes one folder down. It enters exactly the folder that was looked at, never a
// link to one.
func descendInto(dir *os.Root, name string, create bool) (*os.Root, error) {
	before, err := dir.Lstat(name)
	if create && errors.Is(err, fs.ErrNotExist) {
		if err := dir.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		before, err = dir.Lstat(name)
	}
	switch {
	case err != nil:
		return nil, err
	case before.Mode()&fs.ModeSymlink != 0:
		return nil, errLink
	case !before.IsDir():
		return nil, syscall.ENOTDIR
	}
	next, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	after, err := next.Stat(".")
	if err == nil && !os.SameFile(before, after) {
		err = errChanged
	}
	if err != nil {
		_ = next.Close() // only looked through
		return nil, err
	}
	return next, nil
}

// folder opens the place as a folder.
func (p *place) folder() (*os.Root, error) {
	if p.name == "." {
		return p.dir.OpenRoot(".")
	}
	next, err := descendInto(p.dir, p.name, false)
	return next, namePathOnce(p.path, err)
}

// file opens the place for reading. It must be a regular file, and the one that was checked.
func (p *place) file() (*os.File, fs.FileInfo, error) {
	f, info, err := openRegular(p.dir, p.name)
	return f, info, namePathOnce(p.path, err)
}

// openRegular opens a file for reading. Opening never blocks, as it would on a pipe
// without a writer.
func openRegular(dir *os.Root, name string) (*os.File, fs.FileInfo, error) {
	before, err := dir.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if err := checkRegular(before); err != nil {
		return nil, nil, err
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	after, err := f.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = errChanged
	}
	if err != nil {
		_ = f.Close() // not read
		return nil, nil, err
	}
	return f, after, nil
}

// checkRegular rejects anything but a regular file, and names its type.
func checkRegular(info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return errors.New("is a folder, not a file")
	case mode&fs.ModeSymlink != 0:
		return errLink
	}
	return errors.New("is not a regular file")
}

// namePathOnce replaces the path in a system error, so the path appears exactly once.
func namePathOnce(path string, err error) error {
	if err == nil {
		return nil
	}
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}
