package relay

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/umpirehq/umpire/internal/files"
)

// maxConfig is the largest configuration file that is searched for the key of the socket.
const maxConfig = 64 << 10

// HasUsualSocket reports whether neither the administrator's nor the user's configuration moves the
// gate's socket. It returns false for a file that contains the key, or an escape by which YAML
// could spell the key differently.
func HasUsualSocket(home string) bool {
	return omitsSocket(filepath.Join(files.Managed.Dir, "config.yaml")) &&
		omitsSocket(filepath.Join(home, "config.yaml"))
}

// omitsSocket reports whether a configuration file cannot set the gate's socket.
func omitsSocket(name string) bool {
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return true
	}
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	text, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil || len(text) > maxConfig {
		return false
	}
	return !bytes.Contains(text, []byte("listen")) && !bytes.Contains(text, []byte(`\`))
}

// DialUsual connects to the gate at the usual socket. Its error matches [ErrAbsent] if no gate
// listens there.
func DialUsual(ctx context.Context, home string) (*Line, error) {
	conn, err := DialUnix(ctx, Socket(home))
	if err != nil {
		return nil, err
	}
	token, err := readToken(home)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return newUsualLine(home, token, conn), nil
}

// newUsualLine returns the line on a connection to the gate at the usual socket.
func newUsualLine(home, token string, conn io.ReadWriteCloser) *Line {
	return &Line{
		Host: "localhost", Token: token, Conn: conn,
		Dial: func(ctx context.Context) (io.ReadWriteCloser, error) { return DialUnix(ctx, Socket(home)) },
	}
}

// readToken reads the credential that agents present to the gate.
func readToken(home string) (string, error) {
	text, err := os.ReadFile(TokenFile(home))
	if err != nil {
		return "", err
	}
	return parseToken(text)
}
