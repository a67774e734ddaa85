package server

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// unixPrefix starts the address of a unix socket.
const unixPrefix = "unix:"

// probeTimeout limits how long a live gate may take to accept.
const probeTimeout = 2 * time.Second

// Listen listens at "unix:PATH" or "HOST:PORT". A unix socket and its folder are
// accessible only to this user. Listen replaces the socket of a dead gate, but not a live
// one. A TCP address must be a loopback address, unless remote is set.
func Listen(ctx context.Context, address string, remote bool) (net.Listener, error) {
	path, isUnix := strings.CutPrefix(address, unixPrefix)
	var l net.Listener
	var err error
	if isUnix {
		l, err = listenUnix(ctx, path)
	} else {
		l, err = listenTCP(ctx, address, remote)
	}
	if err != nil {
		return nil, umpire.Errorf("listen on %s: %w", address, err)
	}
	return l, nil
}

func listenTCP(ctx context.Context, address string, remote bool) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) && !remote {
		return nil, errors.New("want a loopback address such as 127.0.0.1")
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", address)
}

func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	if path == "" {
		return nil, errors.New("the path of the socket is missing")
	}
	if err := ownFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, umpire.Errorf("another gate serves there: %w", err)
	}
	name, release, err := files.SocketName(path)
	if errors.Is(err, files.ErrSocketPath) {
		err = umpire.Errorf("a socket's path has 1 to %d bytes, this one has %d: %w",
			files.MaxSocketPath, len(path), err)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	l, err := bind(ctx, name)
	if err != nil {
		return nil, errors.Join(err, release(), lock.Close())
	}
	return &privateListener{UnixListener: l, lock: lock, release: release}, nil
}

// bind makes the socket. The folder keeps other users out until its mode is set.
func bind(ctx context.Context, path string) (*net.UnixListener, error) {
	if err := vacate(ctx, path); err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, fileMode); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// vacate removes a stale socket, and nothing else.
func vacate(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return errors.New("there is something other than a socket")
	}
	dialer := net.Dialer{Timeout: probeTimeout}
	if c, err := dialer.DialContext(ctx, "unix", path); err == nil {
		return errors.Join(errors.New("another gate answers there"), c.Close())
	} else if !refused(err) {
		return err
	}
	return os.Remove(path)
}

// ownFolder makes the folder, or checks that only this user can access it.
func ownFolder(folder string) error {
	if err := os.MkdirAll(folder, folderMode); err != nil {
		return err
	}
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	if othersMayRead(info) || !ours(info) {
		return umpire.Errorf("other users can access the folder %s: its mode is %04o, want 0700",
			folder, info.Mode().Perm())
	}
	return nil
}

// A privateListener only accepts connections of this user.
type privateListener struct {
	*net.UnixListener
	lock    *os.File
	release func() error // releases the socket's name
}

// Accept closes the connections of other users, because modes do not stop root.
func (l *privateListener) Accept() (net.Conn, error) {
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		uid, _, err := credentialsOf(c)
		if uid == os.Geteuid() || uid < 0 && err != nil && !tellsPeers {
			return c, nil
		}
		_ = c.Close()
	}
}

// Close removes the socket. The lock file stays: removing it would let two gates lock
// different files with the same name.
func (l *privateListener) Close() error {
	return errors.Join(l.UnixListener.Close(), l.release(), l.lock.Close())
}
