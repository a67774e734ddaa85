package digest

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// nextData returns where content follows, from a place on: there itself where the file system
// does not know about holes, and -1 when none follows.
func nextData(f *os.File, from int64) int64 {
	at, err := f.Seek(from, unix.SEEK_DATA)
	switch {
	case errors.Is(err, unix.ENXIO):
		return -1
	case err != nil:
		return from
	}
	return at
}
