//go:build linux || darwin

package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// stamp tells how a file is, and when it last changed. A link is one too, and makes
// an error: what it leads to may change without it.
func stamp(path string) (text string, changed time.Time, err error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return "", time.Time{}, nil
	}
	if err != nil {
		return "", time.Time{}, err
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.Mode().IsRegular() {
		return "", time.Time{}, fmt.Errorf("%s is not a regular file", path)
	}
	changed = changeTime(s)
	text = fmt.Sprint(s.Dev, s.Ino, s.Size, s.Uid, info.Mode(), info.ModTime().UnixNano(), changed.UnixNano())
	return text, changed, nil
}

// owned reports whether a file is that of whoever runs this.
func owned(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}
