package storetest

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// socketName is PostgreSQL's name for the socket of port 5432.
const socketName = ".s.PGSQL.5432"

// A Proxy relays between clients and a server. Cutting it closes the connections without
// notice: a commit may have reached the server while its answer is lost.
type Proxy struct {
	server   *Server
	dir      string
	listener net.Listener
	done     sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool // nil once closed
	mute  bool              // drop the server's answers
}

// Proxy starts a proxy in front of the server.
func (s *Server) Proxy(t testing.TB) *Proxy {
	t.Helper()
	p := &Proxy{server: s, dir: socketDir(t), conns: map[net.Conn]bool{}}
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "unix", filepath.Join(p.dir, socketName))
	if err != nil {
		t.Fatalf("proxy: %v", err)
	}
	p.listener = listener
	p.done.Go(p.serve)
	t.Cleanup(p.close)
	return p
}

// Through returns the address of a database through the proxy.
func (p *Proxy) Through(t testing.TB, dsn string) string {
	t.Helper()
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatalf("proxy: %v", err)
	}
	return address(p.dir, config.Database)
}

// Mute drops all output of the server from now on, until Cut.
func (p *Proxy) Mute() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mute = true
}

func (p *Proxy) muted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mute
}

// Cut closes every connection.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mute = false
	for c := range p.conns {
		_ = c.Close() // only closing it matters
	}
}

func (p *Proxy) close() {
	_ = p.listener.Close() // it also stops serve
	p.Cut()
	p.mu.Lock()
	p.conns = nil
	p.mu.Unlock()
	p.done.Wait()
	_ = os.RemoveAll(p.dir) // a leftover in the temporary folder at worst
}

func (p *Proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		var dialer net.Dialer
		server, err := dialer.Dial("unix", filepath.Join(p.server.dir, socketName))
		if err != nil {
			_ = client.Close() // the server is not running
			continue
		}
		p.relay(client, server)
		p.relay(server, speaker{client, p})
	}
}

// A speaker is a connection to a client that can be muted.
type speaker struct {
	net.Conn

	proxy *Proxy
}

func (s speaker) Write(data []byte) (int, error) {
	if s.proxy.muted() {
		return len(data), nil
	}
	return s.Conn.Write(data)
}

// relay copies one direction and then closes both connections.
func (p *Proxy) relay(from, to net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		_ = from.Close() // the proxy is already closed
		return
	}
	p.conns[from] = true
	p.done.Go(func() {
		_, _ = io.Copy(to, from) // the error does not matter
		_, _ = from.Close(), to.Close()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, from)
	})
}
