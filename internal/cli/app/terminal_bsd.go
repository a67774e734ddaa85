//go:build darwin || freebsd || netbsd || openbsd

package app

import (
	"os"

	"golang.org/x/sys/unix"
)

// readQueue selects the queue of typed input.
const readQueue = 1

// forgetTyped discards typed input that has not been read yet.
func forgetTyped(f *os.File) error {
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, readQueue)
}

// The requests that read and set a terminal.
const (
	readTermios = unix.TIOCGETA
	setTermios  = unix.TIOCSETA
)
