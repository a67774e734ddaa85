//go:build darwin || freebsd || netbsd || openbsd

package app

import (
	"os"

	"golang.org/x/sys/unix"
)

// readQueue names the queue of what was typed.
const readQueue = 1

// forgetTyped throws away what was typed and not read yet.
func forgetTyped(f *os.File) error {
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, readQueue)
}
