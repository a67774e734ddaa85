package sandbox

import (
	"strings"

	"golang.org/x/sys/unix"
)

// A realFolder is an open home, used to look up its real content after it is hidden.
type realFolder struct {
	path string
	fd   int
}

// openReal opens a home by a path without symbolic links. It stays open.
func openReal(path string) (realFolder, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
	return realFolder{path, fd}, err
}

// has reports whether a path exists in the home.
func (r realFolder) has(path string) bool {
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
