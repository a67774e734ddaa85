package outside

import (
	"strings"

	"golang.org/x/sys/unix"
)

// A Real is an open home, used to look up its real content after it is hidden.
type Real struct {
	path string
	fd   int
}

// OpenReal opens a home by a path without symbolic links. It stays open.
func OpenReal(path string) (Real, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
	return Real{path, fd}, err
}

// Has reports whether a path exists in the home.
func (r Real) Has(path string) bool {
	name, within := strings.CutPrefix(path, r.path+"/")
	if !within {
		return false
	}
	fd, err := unix.Openat2(r.fd, name, &unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return false
	}
	_ = unix.Close(fd) // it was only opened for the check
	return true
}
