//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package app

import (
	"errors"
	"os"
)

// ownTerminal is not known here: answers need a credential.
const ownTerminal = ""

// IsTerminal guesses by the sort of file, and takes the null device for none.
func IsTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && info.Name() != os.DevNull
}

// SizeOf does not know.
func SizeOf(*os.File) (columns, lines int) { return 0, 0 }

// forgetTyped cannot.
func forgetTyped(*os.File) error { return errors.ErrUnsupported }
