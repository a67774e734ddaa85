package files

import (
	"errors"

	"golang.org/x/sys/unix"
)

// maxOpenTries limits how often a path is reopened if parent folders were moved meanwhile.
const maxOpenTries = 16

// OpenBeneath opens a path below an open folder, with close-on-exec. It follows no links
// in the path and does not leave the folder: a link put in the way after the path was
// checked causes an error.
func OpenBeneath(folder int, path string, flags uint64) (fd int, err error) {
	how := unix.OpenHow{
		Flags:   flags | unix.O_CLOEXEC | unix.O_NOFOLLOW,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	for range maxOpenTries {
		fd, err = unix.Openat2(folder, path, &how)
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
			break
		}
	}
	return fd, err
}
