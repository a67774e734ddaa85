package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/host"
)

// An address is where a gate listens: a unix socket or a TCP address.
type address struct{ network, name string }

const (
	networkUnix = "unix"
	networkTCP  = "tcp"
	// probeTime bounds finding out whether a gate answers.
	probeTime = 2 * time.Second
)

// String writes an address the way that --listen reads it.
func (a address) String() string {
	if a.network == networkUnix {
		return networkUnix + ":" + a.name
	}
	return a.name
}

// readListenAddress reads where the gate listens; nothing is the socket in umpire's folder.
func (a *App) readListenAddress(text string) (address, error) {
	path, isUnix := strings.CutPrefix(text, networkUnix+":")
	switch {
	case text == "" && a.home() == "":
		return address{}, usage("export HOME=... or UMPIRE_HOME=...", "there is no home folder for the gate's socket")
	case text == "":
		path, isUnix = host.Socket(a.home()), true
	case filepath.IsAbs(text):
		path, isUnix = text, true
	}
	if !isUnix {
		return tcpAddress(text)
	}
	if path == "" {
		return address{}, usage("umpire serve --help", "listen %q: want unix:PATH or HOST:PORT", text)
	}
	path = a.expandPath(path)
	if text != "" && len(path) > files.MaxSocketPath && !files.LongSockets {
		return address{}, usage("umpire serve --listen unix:SHORTER", "listen: the path of a socket has %d bytes at most, %q has %d", files.MaxSocketPath, path, len(path))
	}
	return address{networkUnix, path}, nil
}

func tcpAddress(text string) (address, error) {
	host, port, err := net.SplitHostPort(text)
	_, numberErr := strconv.ParseUint(port, 10, 16)
	if err != nil || numberErr != nil || host == "" {
		return address{}, usage("umpire serve --help", "listen %q: want unix:PATH or HOST:PORT", text)
	}
	return address{networkTCP, text}, nil
}

// loopback reports whether only this machine can reach an address.
func (a address) loopback() bool {
	if a.network == networkUnix {
		return true
	}
	host, _, err := net.SplitHostPort(a.name)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// expandPath makes a path absolute; ~/ is the person's home.
func (a *App) expandPath(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && a.userHome() != "" {
		return filepath.Join(a.userHome(), rest)
	}
	return a.absolute(path)
}

// stateDir is the folder of the store, the socket and the credentials.
func (a *App) stateDir() string { return filepath.Join(a.home(), "state") }

// longNote says what a long path of the socket means, as a format for its size; "" is that
// there is nothing to say.
func (a address) longNote() (format string, size int) {
	switch {
	case a.network != networkUnix || len(a.name) <= files.MaxSocketPath:
		return "", 0
	case files.LongSockets:
		return longSocket, len(a.name)
	}
	return tooLongSocket, len(a.name)
}

const (
	longSocket    = "the path of the gate's socket has %d bytes: umpire reaches it through its folder, other programs cannot dial it by name"
	tooLongSocket = "the path of the gate's socket has %d bytes, more than this system takes: no gate can run until `listen` names a shorter one"
)

// dial connects to an address. Its error matches [host.ErrAbsent] when nobody
// answers there.
func (a address) dial(ctx context.Context) (io.ReadWriteCloser, error) {
	if a.network == networkUnix {
		return host.DialUnix(ctx, a.name)
	}
	dialer := net.Dialer{Timeout: probeTime}
	conn, err := dialer.DialContext(ctx, a.network, a.name)
	if err != nil && refusedConnection(err) {
		return nil, fmt.Errorf("%w on %s: %w", host.ErrAbsent, a, err)
	}
	if err != nil {
		return nil, fmt.Errorf("the gate on %s cannot be reached: %w", a, err)
	}
	return conn, nil
}

// answers reports whether somebody accepts connections at an address. What is not
// there, or there and dead, is no error.
func (a address) answers(ctx context.Context) (bool, error) {
	conn, err := a.dial(ctx)
	if errors.Is(err, host.ErrAbsent) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, conn.Close()
}

// The kinds of stores.
const (
	storeSQLite   = "sqlite"
	storePostgres = "postgres"
)

// A storeAddress is where sessions and the timeline are kept: a file, or the URL of
// a database.
type storeAddress struct{ kind, name string }

// readStoreAddress reads where the store is; nothing is the file in umpire's folder.
func (a *App) readStoreAddress(text string) (storeAddress, error) {
	path, isFile := strings.CutPrefix(text, storeSQLite+":")
	switch {
	case strings.HasPrefix(text, "postgres://"), strings.HasPrefix(text, "postgresql://"):
		return storeAddress{storePostgres, text}, nil
	case text == "" && a.home() == "":
		return storeAddress{}, usage("export HOME=... or UMPIRE_HOME=...", "there is no home folder for the store")
	case text == "":
		path = filepath.Join(a.stateDir(), "umpire.db")
	case filepath.IsAbs(text):
		path = text
	case !isFile || path == "":
		return storeAddress{}, usage("umpire serve --help", "store %q: want sqlite:PATH or postgres://...", text)
	}
	return storeAddress{storeSQLite, a.expandPath(path)}, nil
}

// exists reports whether there is a store already; a database is taken to be there.
func (s storeAddress) exists() bool {
	if s.kind == storePostgres {
		return true
	}
	info, err := os.Stat(s.name)
	return err == nil && info.Mode().IsRegular()
}
