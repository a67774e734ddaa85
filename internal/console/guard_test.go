package console_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/console"
)

// Every path of the console that is not a file of the page.
var guarded = []struct{ method, path string }{
	{http.MethodGet, "/"}, {http.MethodGet, "/events"}, {http.MethodGet, "/timeline"},
	{http.MethodGet, "/sessions"}, {http.MethodPost, "/sessions/end"},
	{http.MethodGet, "/rules"}, {http.MethodPost, "/rules/code"}, {http.MethodPost, "/rules/remove"},
	{http.MethodPost, "/rules/revoke"}, {http.MethodGet, "/overview"},
	{http.MethodGet, "/passkeys"}, {http.MethodPost, "/passkeys/remove"},
	{http.MethodPost, "/answer"}, {http.MethodPost, "/code"}, {http.MethodPost, "/undo"}, {http.MethodPost, "/sign-out"},
}

func TestNothingIsShownWithoutSigningIn(t *testing.T) {
	t.Parallel()
	w, p := newWorld(t, "en")
	asked := w.ask(t, bash("npm install left-pad"))
	b := w.browser(t)
	for _, tt := range guarded {
		a := b.send(t, tt.method, tt.path, "{}")
		want := http.StatusUnauthorized
		if tt.path == "/" {
			want = http.StatusOK // which says how to sign in
		}
		if a.status != want || strings.Contains(a.body, "left-pad") {
			t.Errorf("%s %s: %d\n%s", tt.method, tt.path, a.status, a.body)
		}
	}
	if a := b.signIn(t, p.token(t)); a.status != http.StatusOK {
		t.Fatalf("signing in: %d %s", a.status, a.body)
	}
	if a := b.send(t, http.MethodGet, "/", ""); !strings.Contains(a.body, string(asked[0].Request)) {
		t.Errorf("the question is not on the page:\n%s", a.body)
	}
	if a := b.send(t, http.MethodPost, "/sign-out", ""); a.status != http.StatusOK {
		t.Errorf("signing out: %d", a.status)
	}
	if a := b.send(t, http.MethodGet, "/events", ""); a.status != http.StatusUnauthorized {
		t.Errorf("after signing out: %d", a.status)
	}
}

// Requests that a page of the console never makes change and show nothing.
func TestForeignRequests(t *testing.T) {
	t.Parallel()
	w, p := newWorld(t, "en")
	asked := w.ask(t, bash("npm install left-pad"))
	b := w.browser(t)
	b.signIn(t, p.token(t))
	_, port, _ := net.SplitHostPort(w.console.Address())
	for _, tt := range []struct {
		name    string
		headers []string
		posts   bool // only a POST is refused
	}{
		{"rebound", []string{"Host", "evil.example:" + port}, false},
		{"rebound without a port", []string{"Host", "127.0.0.1"}, false},
		{"another name of this machine", []string{"Host", "localhost:" + port}, false},
		{"cross-site", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, false},
		{"another port", []string{"Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:1"}, false},
		{"an old browser on another port", []string{"Sec-Fetch-Site", "", "Origin", "http://127.0.0.1:1"}, false},
		{"a page without an origin", []string{"Origin", "null"}, false},
		{"no origin at all", []string{"Origin", "", "Sec-Fetch-Site", ""}, true},
		{"not from a page", []string{"Sec-Fetch-Site", "none"}, true},
	} {
		for _, at := range guarded {
			if tt.posts && at.method == http.MethodGet {
				continue
			}
			a := b.send(t, at.method, at.path, bound(t, &asked[0], nil), tt.headers...)
			if a.status != http.StatusForbidden || strings.Contains(a.body, "left-pad") {
				t.Errorf("%s: %s %s: %d\n%s", tt.name, at.method, at.path, a.status, a.body)
			}
			if a.header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s: %s lets other origins read", tt.name, at.path)
			}
		}
	}
	if list := ok(w.gate.Pending(t.Context(), umpire.PendingQuery{}))(t); len(list) != 1 {
		t.Errorf("%d wait, want the one", len(list))
	}
}

func TestGetChangesNothing(t *testing.T) {
	t.Parallel()
	w, p := newWorld(t, "en")
	b := w.browser(t)
	b.signIn(t, p.token(t))
	for _, at := range guarded {
		if at.method == http.MethodPost {
			if a := b.send(t, http.MethodGet, at.path, ""); a.status != http.StatusMethodNotAllowed {
				t.Errorf("GET %s: %d", at.path, a.status)
			}
		}
	}
}

// No page can be framed, cached, or load and run anything from elsewhere or within itself.
func TestHeaders(t *testing.T) {
	t.Parallel()
	w, p := newWorld(t, "en")
	w.ask(t, bash("npm install left-pad"))
	b := w.browser(t)
	before := b.send(t, http.MethodGet, "/", "")
	b.signIn(t, p.token(t))
	for name, a := range map[string]answer{
		"sign-in": before, "inbox": b.send(t, http.MethodGet, "/", ""),
		"script": b.send(t, http.MethodGet, "/assets/console.js", ""),
		"error":  b.send(t, http.MethodPost, "/answer", "{"),
	} {
		csp := a.header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "script-src 'self'", "form-action 'none'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: the policy %q lacks %s", name, csp, want)
			}
		}
		if strings.Contains(csp, "unsafe") || a.header.Get("X-Frame-Options") != "DENY" ||
			a.header.Get("X-Content-Type-Options") != "nosniff" || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", name, a.header)
		}
		for _, inline := range []string{" style=", "<style", " onclick=", "javascript:"} {
			if strings.Contains(a.header.Get("Content-Type"), "html") && strings.Contains(a.body, inline) {
				t.Errorf("%s holds %q", name, inline)
			}
		}
	}
}

// A link works once, for a minute, and nothing else is one.
func TestLinkWorksOnce(t *testing.T) {
	t.Parallel()
	w, p := newWorld(t, "en")
	token := p.token(t)
	thief := w.browser(t)
	for _, wrong := range []string{"", "x", token[1:], token + "x", strings.ToUpper(token)} {
		if a := thief.signIn(t, wrong); a.status != http.StatusForbidden {
			t.Errorf("the token %q: %d", wrong, a.status)
		}
	}
	b := w.browser(t)
	if a := b.signIn(t, token); a.status != http.StatusOK {
		t.Fatalf("the link: %d %s", a.status, a.body)
	}
	if a := thief.signIn(t, token); a.status != http.StatusForbidden || thief.page != nil {
		t.Errorf("a stolen link, after its use: %d %s", a.status, a.body)
	}
	second := openTerminal(t, w.console, "en")
	defer second.close()
	late := second.token(t)
	w.later.Store(int64(61 * time.Second))
	if a := thief.signIn(t, late); a.status != http.StatusForbidden {
		t.Errorf("a link after a minute: %d", a.status)
	}
	if a := b.send(t, http.MethodGet, "/events", ""); a.status != http.StatusOK {
		t.Errorf("the browser after a minute: %d", a.status)
	}
	w.later.Store(int64(13 * time.Hour))
	if a := b.send(t, http.MethodGet, "/events", ""); a.status != http.StatusUnauthorized {
		t.Errorf("the browser after a day: %d", a.status)
	}
}

// The User-Agent is a hint: another one is refused although the key is right. At the console of another gate the key is
// worth nothing.
func TestKeyElsewhere(t *testing.T) {
	t.Parallel()
	w, p := newWorld(t, "en")
	b := w.browser(t)
	b.signIn(t, p.token(t))
	b.agent = "another browser"
	if a := b.send(t, http.MethodGet, "/events", ""); a.status != http.StatusUnauthorized {
		t.Errorf("in another browser: %d", a.status)
	}
	other, _ := newWorld(t, "en")
	b.agent, b.base = "test browser", other.base
	if a := b.send(t, http.MethodGet, "/events", ""); a.status != http.StatusUnauthorized {
		t.Errorf("at another console: %d", a.status)
	}
}

func TestListensOnThisMachineOnly(t *testing.T) {
	t.Parallel()
	w, _ := newWorld(t, "en")
	host, _, _ := net.SplitHostPort(w.console.Address())
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		t.Errorf("it listens on %s", w.console.Address())
	}
}

// TestFloodsOfTheConsoleEnd: a client that finds the port can keep only a limited number of connections
// open, which share the gate's descriptors, and a person still gets through past silent ones.
func TestFloodsOfTheConsoleEnd(t *testing.T) {
	t.Parallel()
	w, p := newWorld(t, "en")
	b := w.browser(t)
	b.signIn(t, p.token(t))
	address := strings.TrimPrefix(w.base, "http://")
	const conns, most = 200, 64
	flood := func(name, request string) {
		ended := make(chan error, conns)
		for range conns {
			conn := ok(new(net.Dialer).DialContext(t.Context(), "tcp", address))(t)
			defer conn.Close()
			_, _ = io.WriteString(conn, request) // it may be closed already
			go func() {
				_, err := io.Copy(io.Discard, conn)
				ended <- err
			}()
		}
		late := time.After(patience)
		gets := strings.HasPrefix(request, "POST")
		for !gets { // while as many as may be are answered, another one is not
			if response, err := b.client.Get(b.base + "/"); err == nil {
				gets = response.Body.Close() == nil
			}
			select {
			case <-late:
				t.Fatalf("a person does not get through beside connections %s", name)
			default:
			}
		}
		for n := range conns - most {
			select {
			case <-ended:
			case <-late:
				t.Fatalf("%d connections %s stay open", conns-n, name)
			}
		}
	}
	for name, request := range map[string]string{
		"that say nothing": "", "that begin": "GET / HTTP/1.1\r\nHost: x",
		"that are done": "GET /assets/console.css HTTP/1.1\r\nHost: " + address + "\r\n\r\n",
		"that go on":    "POST /sign-in HTTP/1.1\r\nOrigin: " + w.base + "\r\nHost: " + address + "\r\nContent-Length: 9\r\n\r\n",
	} {
		flood(name, request)
	}
}

// TestStrangersThatSendSlowly: requests without their bodies take few of the connections and are
// not waited for long, which lets a person get through.
func TestStrangersThatSendSlowly(t *testing.T) {
	t.Parallel()
	w, p := newWorld(t, "en")
	b := w.browser(t)
	b.signIn(t, p.token(t))
	address := strings.TrimPrefix(w.base, "http://")
	const conns = 200
	ended := make(chan error, conns)
	for i := range conns {
		path := []string{"/sign-in", "/answer", "/undo"}[i%3]
		conn := ok(new(net.Dialer).DialContext(t.Context(), "tcp", address))(t)
		defer conn.Close()
		_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\nContent-Length: 9\r\n\r\n",
			path, address, w.base) // it may be closed already
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		go func() {
			_, err := io.Copy(io.Discard, conn)
			ended <- err
		}()
	}
	for n := range conns {
		if n == conns-console.MaxStrangers {
			if a := b.send(t, http.MethodGet, "/", ""); a.status != http.StatusOK {
				t.Errorf("beside the flood: %d", a.status)
			}
		}
		if err := <-ended; errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal("a connection stays open")
		}
	}
}
