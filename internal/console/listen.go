package console

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/console/notice"
	"github.com/umpirehq/umpire/internal/server"
)

// An origin is an address at which browsers reach the console.
type origin struct {
	url      string       // its scheme, host and port, as browsers send it
	host     string       // required in every request
	instance string       // distinguishes this listener from earlier and later ones with the same url
	remote   bool         // reachable from other machines, over HTTPS
	listen   string       // the address of its listener
	push     *notice.Push // the browsers that get notices there; nil sends no notices
	proxy    *Proxy       // forwards all requests and names their person; nil trusts no proxy

	// strangers holds a value for each request without a sign-in that sends a body.
	strangers chan struct{}
}

// localOrigin returns the origin of a listener on this machine.
func localOrigin(l net.Listener) *origin {
	address := l.Addr().String()
	return &origin{url: "http://" + address, host: address, instance: newToken(), listen: address}
}

// A Remote is an address at which browsers on other machines reach the console, over HTTPS.
type Remote struct {
	// Origin is https://HOST or https://HOST:PORT, as browsers show it.
	Origin string
	// Listen is the HOST:PORT to listen on.
	Listen string
	// Certificate returns the server's certificate; with an error it also returns the previous one,
	// if any. It is nil if a proxy on this machine speaks TLS; Listen is then a loopback address.
	Certificate func() (*tls.Certificate, error)
	// Push keeps that origin's browsers that get notices; if nil, notices are not offered.
	Push *notice.Push
	// Proxy authenticates the users; if nil, everybody signs in here.
	Proxy *Proxy
}

// Limits on connections.
const (
	headerTimeout = 10 * time.Second
	bodyTimeout   = 30 * time.Second
	idleTimeout   = 5 * time.Minute
	maxHeader     = 16 << 10
	// Limits on the gate's descriptors that clients can use up at each origin, signed in or not.
	maxBusy, maxIdle = 48, 16
	drainTime        = 2 * time.Second
)

// anyPort is the address of any free port of this machine.
const anyPort = "127.0.0.1:0"

var errEnded = umpire.Errorf("the console has ended: %w", umpire.ErrState)

// Listen makes the console listen on a loopback address; "" means any free port. It does nothing if
// the console already listens.
func (c *Console) Listen(ctx context.Context, address string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.local != nil {
		return nil
	}
	listener, err := c.listenTCP(ctx, cmp.Or(address, anyPort), false)
	if err != nil {
		return err
	}
	c.local = localOrigin(listener)
	c.answerAt(listener, c.local)
	return nil
}

// ListenRemote makes the console listen for browsers on other machines.
func (c *Console) ListenRemote(ctx context.Context, r Remote) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, err := url.Parse(r.Origin)
	switch {
	case err != nil:
		return err
	case c.remote != nil:
		return umpire.Errorf("the console listens at %s already: %w", c.remote.url, umpire.ErrState)
	}
	if r.Certificate != nil {
		if _, err := r.Certificate(); err != nil {
			return err
		}
	}
	listener, err := c.listenTCP(ctx, r.Listen, r.Certificate != nil)
	if err != nil {
		return err
	}
	if r.Certificate != nil {
		listener = tls.NewListener(listener, &tls.Config{
			MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.certificate(&r) },
		})
	}
	c.remote = &origin{
		url: r.Origin, host: at.Host, instance: newToken(), remote: true, listen: listener.Addr().String(),
		push: r.Push, proxy: r.Proxy,
	}
	c.answerAt(listener, c.remote)
	return nil
}

// certificate returns the certificate of an address, or the previous one if a new one cannot be
// read. Each problem is logged once.
func (c *Console) certificate(r *Remote) (*tls.Certificate, error) {
	pair, err := r.Certificate()
	c.mu.Lock()
	defer c.mu.Unlock()
	said := ""
	if err != nil {
		said = err.Error()
	}
	if said != c.badCertificate && err != nil {
		c.config.Log.Error("the certificate of the console cannot be read", "error", err)
	}
	if c.badCertificate = said; pair != nil {
		return pair, nil
	}
	return nil, err
}

// listenTCP listens on HOST:PORT, which must be on this machine unless remote is set.
func (c *Console) listenTCP(ctx context.Context, address string, remote bool) (net.Listener, error) {
	if c.ended.Err() != nil {
		return nil, errEnded
	}
	listener, err := server.Listen(ctx, address, remote)
	if err != nil {
		return nil, err
	}
	if _, isTCP := listener.Addr().(*net.TCPAddr); !isTCP {
		return nil, errors.Join(umpire.Errorf("console %q: want HOST:PORT", address), listener.Close())
	}
	return listener, nil
}

// answerAt answers the requests of an origin until the console ends.
func (c *Console) answerAt(listener net.Listener, o *origin) {
	s := &http.Server{
		Handler:           c,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: bodyTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader, ConnState: server.LimitConnections(maxBusy, maxIdle),
		ErrorLog:    log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return context.WithValue(c.ended, originKey{}, o) },
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			if o.remote {
				return ctx
			}
			return context.WithValue(ctx, browserKey{}, server.BrowserOf(conn))
		},
	}
	o.strangers = make(chan struct{}, maxStrangers)
	c.servers = append(c.servers, s)
	c.serves.Go(func() {
		if err := s.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			c.config.Log.Error("the console does not serve any more", "error", err)
		}
	})
}

// Address returns the console's address on this machine, or "" before it listens.
func (c *Console) Address() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.local == nil {
		return ""
	}
	return c.local.listen
}

// Close stops the console, and waits a short time for running requests.
func (c *Console) Close() error {
	c.end()
	c.mu.Lock()
	servers := c.servers
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	var failed error
	for _, s := range servers {
		if s.Shutdown(ctx) != nil {
			failed = errors.Join(failed, s.Close())
		}
	}
	c.serves.Wait()
	return failed
}
