package cli

import (
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

// A listener plays an attacker's host. It greets, and counts the received bytes.
type listener struct {
	net.Listener
	calls, bytes atomic.Int64
}

type listenerKey struct{}

// listener FILE...: starts one on this machine, and writes its HOST:PORT into $LISTENER, and in the
// place of LISTENER into the files that are named.
func scriptListener(ts *testscript.TestScript, _ bool, args []string) {
	server, err := net.Listen("tcp", net.JoinHostPort(ownAddress(), "0"))
	ts.Check(err)
	l := &listener{Listener: server}
	ts.Value(listenerKey{}).(*listenerBox).now = l
	ts.Defer(func() { _ = l.Close() })
	go l.count()
	ts.Setenv("LISTENER", server.Addr().String())
	for _, name := range args {
		text := strings.ReplaceAll(ts.ReadFile(name), "LISTENER", server.Addr().String())
		info, err := os.Stat(ts.MkAbs(name))
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), info.Mode()))
	}
}

// ownAddress returns an address of this machine that a command in a trial does not consider its
// own, or else the loopback's.
func ownAddress() string {
	all, err := net.InterfaceAddrs()
	for _, a := range all {
		if p, is := a.(*net.IPNet); err == nil && is && p.IP.To4() != nil && p.IP.IsGlobalUnicast() {
			return p.IP.String()
		}
	}
	return "127.0.0.1"
}

// A listenerBox holds the listener of a script.
type listenerBox struct{ now *listener }

// count counts the received bytes until the listener is closed.
func (l *listener) count() {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		l.calls.Add(1)
		_, _ = io.WriteString(conn, "ok\n")
		n, _ := io.Copy(io.Discard, conn) // bytes before an error count
		l.bytes.Add(n)
		_ = conn.Close()
	}
}

// reached: something was sent to the listener. With !, no connection was made at all. A call
// that the script waited for has ended, and its connection is counted once one of our
// own behind it is.
func scriptReached(ts *testscript.TestScript, neg bool, _ []string) {
	l := ts.Value(listenerKey{}).(*listenerBox).now
	before := l.calls.Load()
	conn, err := net.Dial("tcp", l.Addr().String())
	ts.Check(err)
	ts.Check(conn.(*net.TCPConn).CloseWrite())
	_, err = io.Copy(io.Discard, conn) // ends when it was counted
	ts.Check(err)
	ts.Check(conn.Close())
	calls, bytes := l.calls.Load(), l.bytes.Load()
	l.calls.Store(0)
	l.bytes.Store(0)
	if got := calls > 1 || bytes > 0; got == neg {
		ts.Fatalf("%d bytes in %d connections (%d before)", bytes, calls-1, before)
	}
}
