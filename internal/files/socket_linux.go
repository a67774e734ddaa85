package files

import (
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// LongSockets reports whether [SocketName] finds a name for every path.
const LongSockets = true

// SocketName returns a name for the socket at a path that the kernel accepts. A long path
// is replaced by one through a descriptor of its folder, so the socket stays in its
// protected folder. The name is valid until release.
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
		_ = release() // it was not used
		return "", nil, ErrSocketPath
	}
	return name, release, nil
}
