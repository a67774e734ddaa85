//go:build unix

package relay

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// dialSeconds bounds connecting: a gate that does not accept connections counts as failed.
const dialSeconds = 2

// DialUnix connects to the socket of a gate on this machine. Its error matches [ErrAbsent] if the
// socket is missing or stale.
func DialUnix(_ context.Context, path string) (io.ReadWriteCloser, error) {
	fd, err := connectTo(path)
	if err != nil {
		return nil, err
	}
	return openFile(fd, path)
}

// IsRefused reports whether err means that nothing listens on an address.
func IsRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// openFile turns a connection into a file; closing it then ends a pending read.
func openFile(fd int, path string) (*os.File, error) {
	if err := syscall.SetNonblock(fd, true); err != nil {
		_ = syscall.Close(fd) // it was never used
		return nil, umpire.Errorf("the gate on %s cannot be reached: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// connectTo connects a blocking descriptor to the socket at a path.
func connectTo(path string) (fd int, err error) {
	name, release, err := files.SocketName(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, files.ErrSocketPath) { // no gate can be there
		return 0, umpire.Errorf("%w on %s: %w", ErrAbsent, path, err)
	}
	if err != nil {
		return 0, umpire.Errorf("the gate on %s cannot be reached: %w", path, err)
	}
	defer release() //nolint:errcheck // the connection no longer needs the name
	fd, err = socket()
	if err != nil {
		return 0, umpire.Errorf("the gate on %s cannot be reached: %w", path, err)
	}
	err = connect(fd, name)
	if err == nil {
		return fd, nil
	}
	_ = syscall.Close(fd) // it was never used
	if errors.Is(err, syscall.ENOENT) || IsRefused(err) {
		return 0, umpire.Errorf("%w on %s: %w", ErrAbsent, path, err)
	}
	return 0, umpire.Errorf("the gate on %s cannot be reached: %w", path, err)
}

func socket() (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	return fd, err
}

func connect(fd int, path string) error {
	limit := syscall.Timeval{Sec: dialSeconds}
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_SNDTIMEO, &limit); err != nil {
		return err
	}
	for {
		err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: path})
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
