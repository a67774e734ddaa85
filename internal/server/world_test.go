package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"go.uber.org/goleak"

	"github.com/umpirehq/umpire/internal/server"
)

func TestMain(m *testing.M) {
	if child := os.Getenv("UMPIRE_TEST_CHILD"); child != "" {
		if kind, ok := strings.CutPrefix(child, "bench-"); ok {
			os.Exit(serveBench(kind))
		}
		os.Exit(children[child]())
	}
	goleak.VerifyTestMain(m)
}

var credentials = server.Credentials{Agent: strings.Repeat("a1", 32), Person: strings.Repeat("b2", 32)}

// A world is a served gate.
type world struct {
	gate    *fakeGate
	server  *server.Server
	address string // for the client
	base    string // for plain HTTP
	dial    func(ctx context.Context, _, _ string) (net.Conn, error)
	stop    func() error // drains and returns the result of Serve
}

// networks are the listeners that tests use.
var networks = map[string]string{"unix": "", "tcp": "127.0.0.1:0"}

// each runs a test over every network.
func each(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	for network := range networks {
		t.Run(network, func(t *testing.T) {
			t.Parallel()
			f(t, serve(t, network, server.Config{}))
		})
	}
}

// serve serves a fake gate until the test ends.
func serve(t testing.TB, network string, c server.Config) *world {
	t.Helper()
	return serveConfig(t, addressOn(t, network), c)
}

func addressOn(t testing.TB, network string) string {
	t.Helper()
	if address := networks[network]; address != "" {
		return address
	}
	return "unix:" + filepath.Join(shortDir(t), "s", "gate.sock")
}

// hasty is how long a hasty server waits for a client: longer than a client needs on a busy machine.
const hasty = 3 * time.Second

// serveHastily serves a fake gate that does not wait long for a client to send or read.
func serveHastily(t *testing.T, network string, c server.Config) *world {
	t.Helper()
	return serveWith(t, addressOn(t, network), c, hasty)
}

// hastily runs a test with a hasty server over every network.
func hastily(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	for network := range networks {
		t.Run(network, func(t *testing.T) {
			t.Parallel()
			f(t, serveHastily(t, network, server.Config{}))
		})
	}
}

func serveAt(t testing.TB, address string, gate *fakeGate) *world {
	t.Helper()
	return serveConfig(t, address, server.Config{Gate: gate})
}

func serveConfig(t testing.TB, address string, c server.Config) *world {
	t.Helper()
	return serveWith(t, address, c, 10*time.Minute)
}

func serveWith(t testing.TB, address string, c server.Config, client time.Duration) *world {
	t.Helper()
	if c.Gate == nil {
		c.Gate = newFake()
	}
	c.Credentials = credentials
	if c.Limits.PerSecond == 0 {
		c.Limits.PerSecond = 1_000_000
	}
	listener, err := server.Listen(t.Context(), address, false)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{server: server.NewForTest(c, client), base: "http://localhost", address: address}
	w.gate, _ = c.Gate.(*fakeGate)
	network := listener.Addr().Network()
	if network == "tcp" {
		w.address = listener.Addr().String()
		w.base = "http://" + w.address
	}
	w.dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(w.address, "unix:"))
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- w.server.Serve(ctx, listener) }()
	w.stop = sync.OnceValue(func() error { cancel(); return <-served })
	t.Cleanup(func() {
		if err := w.stop(); err != nil {
			t.Errorf("Serve returned %v", err)
		}
	})
	return w
}

// shortDir returns a folder with a path short enough for sockets.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "u") //nolint:usetesting // the path of t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (w *world) client(t testing.TB, token string) *server.Client {
	t.Helper()
	c, err := server.Dial(w.address, token)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// http returns a plain client for a single protocol.
func (w *world) http(t testing.TB, h2 bool) *http.Client {
	t.Helper()
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!h2)
	protocols.SetUnencryptedHTTP2(h2)
	transport := &http.Transport{DialContext: w.dial, Protocols: protocols, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// bearer sends a token with every call of a generated client.
func bearer(token string) connect.ClientOption { return connect.WithInterceptors(tokenSender(token)) }

type tokenSender string

func (s tokenSender) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
		r.Header().Set("Authorization", "Bearer "+string(s))
		return next(ctx, r)
	}
}

func (s tokenSender) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		conn := next(ctx, spec)
		conn.RequestHeader().Set("Authorization", "Bearer "+string(s))
		return conn
	}
}

func (tokenSender) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

// An answer is a plain HTTP response.
type answer struct {
	status int
	header http.Header
	body   []byte
	fields map[string]any
}

// ask sends a plain request. Headers come in pairs.
func (w *world) ask(t testing.TB, method, path, token, body string, headers ...string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, w.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			request.Host = headers[i+1]
			continue
		}
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := w.http(t, false).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	a := answer{status: response.StatusCode, header: response.Header}
	if response.Header.Get("Content-Type") == "text/event-stream" {
		return a
	}
	if a.body, err = io.ReadAll(response.Body); err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(a.body))
	decoder.UseNumber()
	_ = decoder.Decode(&a.fields)
	return a
}

// call posts a JSON request to a procedure such as GateService/Check.
func (w *world) call(t testing.TB, procedure, token, body string, headers ...string) answer {
	t.Helper()
	return w.ask(t, http.MethodPost, "/umpire.v1."+procedure, token, body, headers...)
}
