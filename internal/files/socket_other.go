//go:build !linux

package files

// LongSockets reports whether [SocketName] finds a name for every path.
const LongSockets = false

// SocketName returns a name by which the kernel takes the socket at a path, until release.
// Here that is the path itself, and one that is too long is [ErrSocketPath].
func SocketName(path string) (name string, release func() error, err error) {
	if len(path) > MaxSocketPath {
		return "", nil, ErrSocketPath
	}
	return path, keepNothing, nil
}
