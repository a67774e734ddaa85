package app

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/host/relay"
)

// An Address is the listening address of a gate: a unix socket or a TCP address.
type Address struct{ Network, Name string }

const (
	NetworkUnix = "unix"
	NetworkTCP  = "tcp"
	// probeTime bounds finding out whether a gate answers.
	probeTime = 2 * time.Second
)

// String writes an address the way that --listen reads it.
func (a Address) String() string {
	if a.Network == NetworkUnix {
		return NetworkUnix + ":" + a.Name
	}
	return a.Name
}

// ReadListenAddress parses the gate's address; "" is the socket in umpire's folder.
func (a *App) ReadListenAddress(text string) (Address, error) {
	path, isUnix := strings.CutPrefix(text, NetworkUnix+":")
	switch {
	case text == "" && a.Home() == "":
		return Address{}, Usage("export HOME=... or UMPIRE_HOME=...", "there is no home folder for the gate's socket")
	case text == "":
		path, isUnix = relay.Socket(a.Home()), true
	case filepath.IsAbs(text):
		path, isUnix = text, true
	}
	if !isUnix {
		return tcpAddress(text)
	}
	if path == "" {
		return Address{}, Usage("umpire serve --help", "listen %q: want unix:PATH or HOST:PORT", text)
	}
	path = a.expandPath(path)
	if text != "" && len(path) > files.MaxSocketPath && !files.LongSockets {
		return Address{}, Usage("umpire serve --listen unix:SHORTER",
			"listen: the path of a socket has %d bytes at most, %q has %d", files.MaxSocketPath, path, len(path))
	}
	return Address{NetworkUnix, path}, nil
}

func tcpAddress(text string) (Address, error) {
	host, port, err := net.SplitHostPort(text)
	_, numberErr := strconv.ParseUint(port, 10, 16)
	if err != nil || numberErr != nil || host == "" {
		return Address{}, Usage("umpire serve --help", "listen %q: want unix:PATH or HOST:PORT", text)
	}
	return Address{NetworkTCP, text}, nil
}

// Loopback reports whether only this machine can reach an address.
func (a Address) Loopback() bool {
	if a.Network == NetworkUnix {
		return true
	}
	host, _, err := net.SplitHostPort(a.Name)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// expandPath makes a path absolute; ~/ is the person's home.
func (a *App) expandPath(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && a.UserHome() != "" {
		return filepath.Join(a.UserHome(), rest)
	}
	return a.Absolute(path)
}

// StateDir is the folder of the store, the socket and the credentials.
func (a *App) StateDir() string { return filepath.Join(a.Home(), "state") }

// LongNote describes the consequence of a long socket path, as a format for its size, or
// returns "" if the path is short.
func (a Address) LongNote() (format string, size int) {
	switch {
	case a.Network != NetworkUnix || len(a.Name) <= files.MaxSocketPath:
		return "", 0
	case files.LongSockets:
		return longSocket, len(a.Name)
	}
	return tooLongSocket, len(a.Name)
}

const (
	longSocket = "other programs cannot dial the gate's socket by name, because its path has %d bytes; umpire " +
		"reaches it through its folder"
	tooLongSocket = "no gate can run, because its socket path of %d bytes is too long for this system: set a " +
		"shorter one with `listen`"
)

// Since returns when a gate began to listen on a socket, or the zero time if unknown.
func (a Address) Since() time.Time {
	if a.Network != NetworkUnix {
		return time.Time{}
	}
	info, err := os.Lstat(a.Name)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// Dial connects to an address. Its error matches [relay.ErrAbsent] if no gate listens
// there.
func (a Address) Dial(ctx context.Context) (io.ReadWriteCloser, error) {
	if a.Network == NetworkUnix {
		return relay.DialUnix(ctx, a.Name)
	}
	dialer := net.Dialer{Timeout: probeTime}
	conn, err := dialer.DialContext(ctx, a.Network, a.Name)
	if err != nil && relay.IsRefused(err) {
		return nil, umpire.Errorf("%w on %s: %w", relay.ErrAbsent, a, err)
	}
	if err != nil {
		return nil, umpire.Errorf("the gate on %s cannot be reached: %w", a, err)
	}
	return conn, nil
}

// Answers reports whether a process accepts connections at an address. A missing or
// dead socket is not an error.
func (a Address) Answers(ctx context.Context) (bool, error) {
	conn, err := a.Dial(ctx)
	if errors.Is(err, relay.ErrAbsent) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, conn.Close()
}

// The kinds of stores.
const (
	StoreSQLite   = "sqlite"
	storePostgres = "postgres"
)

// A StoreAddress is where sessions and the timeline are kept: a file, or the URL of
// a database.
type StoreAddress struct{ Kind, Name string }

// ReadStoreAddress parses the address of the store; "" is the file in umpire's folder.
func (a *App) ReadStoreAddress(text string) (StoreAddress, error) {
	path, isFile := strings.CutPrefix(text, StoreSQLite+":")
	switch {
	case strings.HasPrefix(text, "postgres://"), strings.HasPrefix(text, "postgresql://"):
		return StoreAddress{storePostgres, text}, nil
	case text == "" && a.Home() == "":
		return StoreAddress{}, Usage("export HOME=... or UMPIRE_HOME=...", "there is no home folder for the store")
	case text == "":
		path = filepath.Join(a.StateDir(), "umpire.db")
	case filepath.IsAbs(text):
		path = text
	case !isFile || path == "":
		return StoreAddress{}, Usage("umpire serve --help", "store %q: want sqlite:PATH or postgres://...", text)
	}
	return StoreAddress{StoreSQLite, a.expandPath(path)}, nil
}

// Exists reports whether there is a store already. It assumes that a database exists.
func (s StoreAddress) Exists() bool {
	if s.Kind == storePostgres {
		return true
	}
	info, err := os.Stat(s.Name)
	return err == nil && info.Mode().IsRegular()
}
