//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package app

import (
	"errors"
	"os"
)

// ownTerminal is not known here: answers need a credential.
const ownTerminal = ""

// IsTerminal guesses from the type of file, and excludes the null device.
func IsTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && info.Name() != os.DevNull
}

// SizeOf returns 0, 0 because the size is not available here.
func SizeOf(*os.File) (columns, lines int) { return 0, 0 }

// forgetTyped cannot.
func forgetTyped(*os.File) error { return errors.ErrUnsupported }

// hideTyped cannot.
func hideTyped(*os.File) (restore func(), err error) { return nil, errors.ErrUnsupported }
