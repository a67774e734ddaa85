//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package main

import "os"

// isTerminal guesses by the sort of file, and takes the null device for none.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && info.Name() != os.DevNull
}
