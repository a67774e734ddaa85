package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

const (
	dialTimeout       = 5 * time.Second
	clientIdleTimeout = time.Minute
	maxIdle           = 16
	maxToken          = 4096
)

var _ umpire.Gate = (*Client)(nil)

// A Client is a client of a gate in another process. It is safe for concurrent use, and dials on
// first use. Errors match the sentinels of the root package; connection errors match ErrUnreachable
// or ErrCredential.
type Client struct {
	// Name is the client's name for the record, such as cli or tui. The gate shows it as claimed.
	// It is set before the first call.
	Name string

	base  string
	token string
	http  *http.Client
	pace  watchPace
}

// dialUnix connects to a socket with a path of any length.
func dialUnix(ctx context.Context, dialer *net.Dialer, path string) (net.Conn, error) {
	name, release, err := files.SocketName(path)
	if err != nil {
		return nil, err
	}
	defer release() //nolint:errcheck // the connection no longer needs the name
	return dialer.DialContext(ctx, "unix", name)
}

// Dial returns a client of the gate at "unix:PATH" or "HOST:PORT". It only checks the address: a
// missing gate is an error of the first call.
func Dial(address, token string) (*Client, error) {
	dialer := &net.Dialer{Timeout: dialTimeout}
	if path, ok := strings.CutPrefix(address, unixPrefix); ok {
		if path == "" {
			return nil, errors.New("dial: unix: the path is missing")
		}
		return newClient("http://localhost", token, func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialUnix(ctx, dialer, path)
		}), nil
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, umpire.Errorf("dial %s: want unix:PATH or HOST:PORT: %w", address, err)
	}
	return newClient("http://"+address, token, dialer.DialContext), nil
}

func newClient(base, token string, dial func(ctx context.Context, network, address string) (net.Conn, error)) *Client {
	transport := &http.Transport{
		DialContext: dial, DisableCompression: true,
		MaxIdleConns: maxIdle, MaxIdleConnsPerHost: maxIdle, IdleConnTimeout: clientIdleTimeout,
	}
	return &Client{base: base, token: token, http: &http.Client{Transport: transport}, pace: usualWatch}
}

// Close closes idle connections. Calls and watchers end with their contexts. Its error is
// always nil.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// ReadToken reads a credential from its file.
func ReadToken(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", umpire.Errorf("credential: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" || len(token) > maxToken || strings.ContainsAny(token, " \t\r\n") {
		return "", umpire.Errorf("credential: %s contains no token", path)
	}
	return token, nil
}
