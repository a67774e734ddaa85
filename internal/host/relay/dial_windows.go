package relay

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/windows"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// dialTime bounds connecting: a gate that does not accept connections counts as failed.
const dialTime = 2 * time.Second

// DialUnix connects to the socket of a gate on this machine. Its error matches [ErrAbsent] if the
// socket is missing or stale.
func DialUnix(ctx context.Context, path string) (io.ReadWriteCloser, error) {
	if _, _, err := files.SocketName(path); errors.Is(err, files.ErrSocketPath) { // no gate can be there
		return nil, umpire.Errorf("%w on %s: %w", ErrAbsent, path, err)
	}
	dialer := net.Dialer{Timeout: dialTime}
	conn, err := dialer.DialContext(ctx, "unix", path)
	if err == nil {
		return conn, nil
	}
	if errors.Is(err, windows.ERROR_FILE_NOT_FOUND) || IsRefused(err) {
		return nil, umpire.Errorf("%w on %s: %w", ErrAbsent, path, err)
	}
	return nil, umpire.Errorf("the gate on %s cannot be reached: %w", path, err)
}

// IsRefused reports whether err means that nothing listens on an address.
func IsRefused(err error) bool { return errors.Is(err, windows.WSAECONNREFUSED) }

// Ask never answers on Windows: main asks the gate.
func (a *Attempt) Ask() (answer Output, answered bool) { return Output{}, false }

func openFile(int, string) (*os.File, error) { return nil, errors.ErrUnsupported }
