//go:build linux || darwin

package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/umpirehq/umpire"
)

// Stamp returns a text that identifies a file's state, and when it last changed. A link
// causes an error, because its target may change independently.
func Stamp(path string) (text string, changed time.Time, err error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return "", time.Time{}, nil
	}
	if err != nil {
		return "", time.Time{}, err
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.Mode().IsRegular() {
		return "", time.Time{}, umpire.Errorf("%s is not a regular file", path)
	}
	changed = changeTime(s)
	text = fmt.Sprint(s.Dev, s.Ino, s.Size, s.Uid, info.Mode(), info.ModTime().UnixNano(), changed.UnixNano())
	return text, changed, nil
}

// isLink reports whether something exists at a path, and whether it is a link.
func isLink(path string) (link, exists bool, err error) {
	var s syscall.Stat_t // on the stack: os.Lstat allocates it, and an error for each missing file
	err = syscall.Lstat(path, &s)
	for errors.Is(err, syscall.EINTR) {
		err = syscall.Lstat(path, &s)
	}
	switch {
	case err == nil:
		return s.Mode&syscall.S_IFMT == syscall.S_IFLNK, true, nil
	case Missing(err):
		return false, false, nil
	}
	return false, false, &fs.PathError{Op: "lstat", Path: path, Err: err}
}

// ChangeTime returns the time of a file's last change of any kind, which no program can set back.
func ChangeTime(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return changeTime(s)
	}
	return info.ModTime()
}

// Owned reports whether a file belongs to the current user.
func Owned(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}
