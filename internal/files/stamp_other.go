//go:build !linux && !darwin

package files

import (
	"errors"
	"io/fs"
	"time"
)

// Stamp always fails because this system cannot tell whether a file has changed.
func Stamp(string) (string, time.Time, error) {
	return "", time.Time{}, errors.New("this system does not report when a file changed")
}

func ChangeTime(info fs.FileInfo) time.Time { return info.ModTime() }

func Owned(fs.FileInfo) bool { return false }
