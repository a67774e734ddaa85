//go:build !linux

package files

// LongSockets reports whether [SocketName] finds a name for every path.
const LongSockets = false

// SocketName returns a name for the socket at a path that the kernel accepts, until
// release. On this system it is the path itself; a long path fails with [ErrSocketPath].
func SocketName(path string) (name string, release func() error, err error) {
	if len(path) > MaxSocketPath {
		return "", nil, ErrSocketPath
	}
	return path, keepNothing, nil
}
