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

// Stamp tells how a file is, and when it last changed. A link is one too, and makes
// an error: what it leads to may change without it.
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

// Owned reports whether a file is that of whoever runs this.
func Owned(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}
