package server_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/umpirehq/umpire/internal/server"
)

// serveScript returns a client of a handler over connections in memory, until the test ends.
func serveScript(t *testing.T, handler http.Handler) *server.Client {
	t.Helper()
	l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	serving := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- serving.Serve(l) }()
	c := server.NewClientForTest(func(ctx context.Context, _, _ string) (net.Conn, error) { return l.dial(ctx) })
	t.Cleanup(func() {
		err := errors.Join(c.Close(), serving.Close())
		if served := <-ended; err != nil || !errors.Is(served, http.ErrServerClosed) {
			t.Errorf("closing: %v, %v", err, served)
		}
	})
	return c
}

// A pipeListener accepts the other ends of connections in memory.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipeListener) dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept waits for a connection.
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and dial.
func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr has no address to give.
func (*pipeListener) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }
