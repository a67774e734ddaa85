package files

import (
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// LongSockets reports whether [SocketName] finds a name for every path.
const LongSockets = true

// SocketName returns a name by which the kernel takes the socket at a path. A path that is
// too long is reached through a descriptor of its folder, so that the socket stays where
// nobody else can put one. The name holds until release.
func SocketName(path string) (name string, release func() error, err error) {
	if len(path) <= MaxSocketPath {
		return path, keepNothing, nil
	}
	folder, base := filepath.Split(path)
	fd, err := unix.Open(folder, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", nil, &os.PathError{Op: "open", Path: folder, Err: err}
	}
	release = func() error { return unix.Close(fd) }
	name = "/proc/self/fd/" + strconv.Itoa(fd) + "/" + base
	if len(name) > MaxSocketPath {
		_ = release() // nothing was done with it
		return "", nil, ErrSocketPath
	}
	return name, release, nil
}
