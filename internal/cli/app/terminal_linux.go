package app

import (
	"os"

	"golang.org/x/sys/unix"
)

// forgetTyped discards typed input that has not been read yet.
func forgetTyped(f *os.File) error {
	return unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}

// The requests that read and set a terminal.
const (
	readTermios = unix.TCGETS
	setTermios  = unix.TCSETS
)
