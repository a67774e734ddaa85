package trial

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// nextData returns the next offset with content, or -1 if there is only a hole. If the
// file system does not report holes, it returns from.
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
