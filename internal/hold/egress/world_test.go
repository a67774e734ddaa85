package egress

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A world is a proxy with an invented network around it.
type world struct {
	t     *testing.T
	proxy *Proxy
	ctx   context.Context //nolint:containedctx // the life of the world
	stop  context.CancelFunc
	serve sync.WaitGroup

	mu      sync.Mutex
	names   map[string][]string // addresses by name
	servers map[string]string   // real listeners by invented address and port
	asked   []string            // names that were resolved
	dialled []string
	done    []Connection
	records chan Connection
}

func newWorld(tb testing.TB, entries ...string) *world {
	tb.Helper()
	list, err := ParseList(entries)
	if err != nil {
		tb.Fatal(err)
	}
	w := &world{names: map[string][]string{}, servers: map[string]string{}, records: make(chan Connection, 1000)}
	w.t, _ = tb.(*testing.T)
	w.ctx, w.stop = context.WithCancel(context.Background())
	w.proxy = &Proxy{
		List: list, Resolver: w, Dial: w.dial,
		local:  func() ([]netip.Prefix, error) { return nil, nil },
		times:  &times{5 * time.Second, 20 * time.Second},
		Record: func(c Connection) { w.mu.Lock(); w.done = append(w.done, c); w.mu.Unlock(); w.records <- c },
	}
	tb.Cleanup(func() { w.stop(); w.serve.Wait() })
	return w
}

func (w *world) LookupNetIP(_ context.Context, _, name string) (addrs []netip.Addr, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, name)
	for _, text := range w.names[strings.TrimSuffix(name, ".")] {
		addrs = append(addrs, netip.MustParseAddr(text))
	}
	if addrs == nil {
		return nil, errors.New("no such host")
	}
	return addrs, nil
}

func (w *world) dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	w.mu.Lock()
	w.dialled = append(w.dialled, to.String())
	listener := w.servers[to.String()]
	w.mu.Unlock()
	if listener == "" {
		return nil, errors.New("nothing listens")
	}
	return new(net.Dialer).DialContext(ctx, "tcp", listener)
}

// host makes a name with an address and a listener behind one port of it.
func (w *world) host(name, addr string, port int, listener string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if name != "" {
		w.names[name] = append(w.names[name], addr)
	}
	w.servers[netip.AddrPortFrom(netip.MustParseAddr(addr), uint16(port)).String()] = listener
}

// silent fails the test if a byte could have left.
func (w *world) silent() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.asked)+len(w.dialled) > 0 {
		w.t.Errorf("resolved %q and connected to %q", w.asked, w.dialled)
	}
}

// reached returns the resolved names and the addresses of connections.
func (w *world) reached() (asked, dialled []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.asked), slices.Clone(w.dialled)
}

// pair returns the two ends of a TCP connection.
func pair(tb testing.TB) (a, b *net.TCPConn) {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer listener.Close()
	dialled, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	accepted, err := listener.Accept()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { dialled.Close(); accepted.Close() })
	_ = dialled.SetDeadline(time.Now().Add(30 * time.Second))
	return dialled.(*net.TCPConn), accepted.(*net.TCPConn)
}

// open starts a connection to the proxy.
func (w *world) open(tb testing.TB) *net.TCPConn {
	tb.Helper()
	ours, theirs := pair(tb)
	w.serve.Go(func() { w.proxy.ServeProxy(w.ctx, theirs) })
	return ours
}

func (w *world) direct(tb testing.TB, host string, port uint16) *net.TCPConn {
	tb.Helper()
	ours, theirs := pair(tb)
	w.serve.Go(func() { w.proxy.ServeDirect(w.ctx, theirs, Destination{host, port}) })
	return ours
}

// record waits for a record.
func (w *world) record() Connection {
	w.t.Helper()
	select {
	case c := <-w.records:
		return c
	case <-time.After(20 * time.Second):
		w.t.Fatal("nothing is recorded")
		return Connection{}
	}
}

// refuses waits for a record with a reason.
func (w *world) refuses(why Reason) Connection {
	w.t.Helper()
	c := w.record()
	if c.Reason != why {
		w.t.Errorf("the reason is %d (%s), want %d (%s)", c.Reason, c.Reason.Say(c.Destination), why,
			why.Say(c.Destination))
	}
	return c
}

// say writes to a connection, returns all that comes back, and closes the connection.
func say(conn net.Conn, text string) string {
	_, _ = io.WriteString(conn, text)
	got, _ := io.ReadAll(conn)
	conn.Close()
	return string(got)
}

// connect asks for a tunnel and returns the status of the answer.
func connect(tb testing.TB, conn net.Conn, to string) int {
	tb.Helper()
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\nProxy-Authorization: Basic c2VjcmV0\r\n\r\n", to)
	head := readUntil(tb, conn, "\r\n\r\n")
	answer, err := http.ReadResponse(bufio.NewReader(strings.NewReader(head)), &http.Request{Method: http.MethodConnect})
	if err != nil {
		tb.Fatalf("%q: %v", head, err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

// readUntil reads no byte beyond the end.
func readUntil(tb testing.TB, conn io.Reader, end string) string {
	tb.Helper()
	var read []byte
	one := make([]byte, 1)
	for !bytes.HasSuffix(read, []byte(end)) {
		if _, err := conn.Read(one); err != nil {
			tb.Fatalf("after %q: %v", read, err)
		}
		read = append(read, one[0])
	}
	return string(read)
}

// echo is a server that returns all bytes, and ends when the client ends.
func echo(tb testing.TB, greeting string) (address string) {
	tb.Helper()
	return listen(tb, func(conn *net.TCPConn) {
		_, _ = io.WriteString(conn, greeting)
		_, _ = io.Copy(conn, conn)
	})
}

func listen(tb testing.TB, serve func(*net.TCPConn)) (address string) {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	var all sync.WaitGroup
	tb.Cleanup(func() { listener.Close(); all.Wait() })
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				serve(conn.(*net.TCPConn))
			})
		}
	})
	return listener.Addr().String()
}

// website is an HTTP server that describes each request.
func website(tb testing.TB) (address string) {
	tb.Helper()
	server := httptest.NewServer(http.HandlerFunc(describe))
	tb.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func describe(out http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	fmt.Fprintf(out, "%s %s %s %v body %q", r.Method, r.Host, r.RequestURI, r.Header, body)
}

// secureSite is the same over TLS, for example.com.
func secureSite(tb testing.TB) (address string, roots *x509.CertPool) {
	tb.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(describe))
	server.EnableHTTP2 = true
	server.StartTLS()
	tb.Cleanup(server.Close)
	roots = x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return server.Listener.Addr().String(), roots
}

// helloOf returns the first record of crypto/tls.
func helloOf(name string) []byte {
	var sent bytes.Buffer
	_ = tls.Client(&deaf{&sent}, &tls.Config{ServerName: name, InsecureSkipVerify: name == ""}).Handshake()
	return sent.Bytes()
}

// A deaf connection records the bytes written to it, and never answers.
type deaf struct{ io.Writer }

func (deaf) Read([]byte) (int, error)         { return 0, io.EOF }
func (deaf) Close() error                     { return nil }
func (deaf) LocalAddr() net.Addr              { return nil }
func (deaf) RemoteAddr() net.Addr             { return nil }
func (deaf) SetDeadline(time.Time) error      { return nil }
func (deaf) SetReadDeadline(time.Time) error  { return nil }
func (deaf) SetWriteDeadline(time.Time) error { return nil }

// An extension of a hello that a test makes by hand.
type extension struct {
	kind uint16
	data []byte
}

func sized(width int, data ...[]byte) []byte {
	all := bytes.Join(data, nil)
	size := binary.BigEndian.AppendUint32(nil, uint32(len(all)))
	return append(size[4-width:], all...)
}

func nameExtension(names ...string) extension {
	var list []byte
	for _, name := range names {
		list = append(list, sized(2, []byte(name))...)
		list = slices.Insert(list, len(list)-len(name)-2, byte(0))
	}
	return extension{0, sized(2, list)}
}

// message returns a client hello without a record around it.
func message(extensions ...extension) []byte {
	var all []byte
	for _, e := range extensions {
		all = append(binary.BigEndian.AppendUint16(all, e.kind), sized(2, e.data)...)
	}
	body := slices.Concat([]byte{3, 3}, make([]byte, 32), sized(1), sized(2, []byte{0x13, 1}), sized(1, []byte{0}),
		sized(2, all))
	return append([]byte{1}, sized(3, body)...)
}

// records wraps a message in records of the given size.
func inRecords(message []byte, size int) (raw []byte) {
	for part := range slices.Chunk(message, size) {
		raw = append(append(raw, 22, 3, 1), sized(2, part)...)
	}
	return raw
}

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}
