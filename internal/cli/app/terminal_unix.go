//go:build linux || darwin || freebsd || netbsd || openbsd

package app

import (
	"os"

	"golang.org/x/sys/unix"
)

// ownTerminal is the name of the terminal that a process belongs to.
const ownTerminal = "/dev/tty"

// IsTerminal reports whether a file is a terminal. Being a character device is
// not enough: so is /dev/null.
func IsTerminal(f *os.File) bool {
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}

// SizeOf returns the columns and lines of a terminal, or 0 if unknown.
func SizeOf(f *os.File) (columns, lines int) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return int(size.Col), int(size.Row)
}

// hideTyped keeps typed characters from being shown until restore is called.
func hideTyped(tty *os.File) (restore func(), err error) {
	shown, err := unix.IoctlGetTermios(int(tty.Fd()), readTermios)
	if err != nil {
		return nil, err
	}
	hidden := *shown
	hidden.Lflag = hidden.Lflag&^unix.ECHO | unix.ICANON | unix.ISIG
	if err := unix.IoctlSetTermios(int(tty.Fd()), setTermios, &hidden); err != nil {
		return nil, err
	}
	return func() { _ = unix.IoctlSetTermios(int(tty.Fd()), setTermios, shown) }, nil // the terminal may be gone
}
