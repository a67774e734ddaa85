package files

import (
	"errors"

	"golang.org/x/sys/unix"
)

// maxOpenTries is how often a path is opened again when folders on its way were moved meanwhile.
const maxOpenTries = 16

// OpenBeneath opens a path below a folder that is open, and closes it for programs that are
// started. It follows no link, in no part of the path, and does not leave the folder: what
// was put in the way of a path after it was judged makes an error.
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
