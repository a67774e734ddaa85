//go:build !linux && !darwin

package files

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// Stamp always fails because this system cannot tell whether a file has changed.
func Stamp(string) (string, time.Time, error) {
	return "", time.Time{}, errors.New("this system does not report when a file changed")
}

// isLink reports whether something exists at a path, and whether it is a link.
func isLink(path string) (link, exists bool, err error) {
	info, err := os.Lstat(path)
	if Missing(err) {
		return false, false, nil
	}
	return err == nil && info.Mode()&os.ModeSymlink != 0, err == nil, err
}

func ChangeTime(info fs.FileInfo) time.Time { return info.ModTime() }

func Owned(fs.FileInfo) bool { return false }
