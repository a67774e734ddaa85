package client

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// headTimeout is for form: both ends are this process.
const headTimeout = 10 * time.Second

// Local returns a client of a handler in this process, over connections in memory.
// Close ends them.
func Local(handler http.Handler) *Client {
	l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: headTimeout}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	c := newClient("http://localhost", "", func(ctx context.Context, _, _ string) (net.Conn, error) { return l.dial(ctx) })
	c.stop = func() error {
		err := server.Close()
		if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return err
	}
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
