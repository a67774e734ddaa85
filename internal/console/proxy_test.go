package console_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/console"
)

const (
	proxySecret = "a-secret-of-the-proxy"
	userHeader  = "X-Forwarded-User"
)

// A teamProxy speaks TLS for the console, and names the user.
type teamProxy struct {
	user        atomic.Pointer[string]
	server      *httptest.Server
	certificate string
}

// listenBehindProxy opens the console for a proxy, and returns a browser that reaches it through the proxy.
func (w *world) listenBehindProxy(t testing.TB) (*teamProxy, *browser) {
	t.Helper()
	err := w.console.ListenRemote(t.Context(), console.Remote{
		Origin: remoteOrigin, Listen: "127.0.0.1:0", Proxy: &console.Proxy{UserHeader: userHeader, Secret: proxySecret},
	})
	if err != nil {
		t.Fatal(err)
	}
	certificate, key := writeCertificate(t, t.TempDir())
	p := &teamProxy{certificate: certificate}
	p.set("Ana")
	passOn := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: w.console.RemoteAddress()})
		r.Out.Host = r.In.Host
		r.Out.Header.Set(console.ProxyHeader, proxySecret)
		r.Out.Header.Del(userHeader)
		if user := *p.user.Load(); user != "" {
			r.Out.Header.Set(userHeader, user)
		}
	}}
	pair := ok(tls.LoadX509KeyPair(certificate, key))(t)
	p.server = httptest.NewUnstartedServer(passOn)
	p.server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	p.server.StartTLS()
	t.Cleanup(p.server.Close)
	b := w.remoteBrowser(t, certificate)
	transport, _ := b.client.Transport.(*http.Transport)
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, p.server.Listener.Addr().String())
	}
	return p, b
}

func (p *teamProxy) set(user string) { p.user.Store(&user) }

// continueAs signs in the person whom the proxy knows.
func (b *browser) continueAs(t testing.TB) answer {
	t.Helper()
	return b.signInBy(t, map[string]any{})
}

// A person known to the proxy signs in by a button, and is recorded under that name. The sign-in is
// worthless to the next user of the same browser, no matter what the browser sends.
func TestProxyNamesThePerson(t *testing.T) {
	t.Parallel()
	w, _ := newWorld(t, "en")
	p, b := w.listenBehindProxy(t)
	if said := b.send(t, http.MethodGet, "/sign-in", "").body; !strings.Contains(said, "Continue as Ana") {
		t.Fatalf("what a stranger is offered: %s", said)
	}
	if page := b.send(t, http.MethodGet, "/", "").body; strings.Contains(page, "Ana") {
		t.Errorf("a navigation shows the name: %s", page)
	}
	if a := b.continueAs(t); a.status != http.StatusOK {
		t.Fatalf("sign in: %d %s", a.status, a.body)
	}
	asked := append(w.ask(t, write("a.txt")), w.ask(t, write("b.txt"))...)
	deny := map[string]any{"answer": "deny"}
	if status, said := b.give(t, "/answer", &asked[0], deny); status != http.StatusOK {
		t.Fatalf("deny: %d %s", status, said)
	}
	var data struct {
		By umpire.Actor `json:"by"`
	}
	e := w.answered(t, &asked[0])
	if err := json.Unmarshal(e.Data, &data); err != nil || e.Actor != "Ana" || data.By.UID == nil {
		t.Errorf("%v, by %q and %+v", err, e.Actor, data.By)
	}
	if status, said := b.give(t, "/answer", &asked[1], nil); status != http.StatusForbidden {
		t.Errorf("allow without a passkey: %d %s", status, said)
	}
	for _, user := range []string{"Bob", ""} {
		p.set(user)
		if status, said := b.give(t, "/answer", &asked[1], deny); status != http.StatusUnauthorized {
			t.Errorf("the key of Ana, used by %q: %d %s", user, status, said)
		}
		for path, want := range map[string]int{"/": http.StatusUnauthorized, "/sign-in": http.StatusOK} {
			a := b.send(t, http.MethodGet, path, "", userHeader, "Ana")
			if a.status != want || strings.Contains(a.body, "b.txt") || strings.Contains(a.body, "Continue as Ana") {
				t.Errorf("%s for a browser of %q that says it is Ana's: %d %s", path, user, a.status, a.body)
			}
		}
	}
	if a := b.signInBy(t, map[string]any{}, userHeader, "Ana"); a.status != http.StatusForbidden {
		t.Errorf("nobody signs in: %d %s", a.status, a.body)
	}
}

// A request that bypasses the proxy, or names no person or several, is refused before anything is read.
func TestProxyIsNotPretended(t *testing.T) {
	t.Parallel()
	w, _ := newWorld(t, "en")
	p, b := w.listenBehindProxy(t)
	b.continueAs(t)
	for what, headers := range map[string][][2]string{
		"no secret":         {{userHeader, "Ana"}},
		"another secret":    {{console.ProxyHeader, proxySecret + "x"}, {userHeader, "Ana"}},
		"a part of it":      {{console.ProxyHeader, proxySecret[:5]}, {userHeader, "Ana"}},
		"two secrets":       {{console.ProxyHeader, "x"}, {console.ProxyHeader, proxySecret}, {userHeader, "Ana"}},
		"two names":         {{console.ProxyHeader, proxySecret}, {userHeader, "Ana"}, {userHeader, "Bob"}},
		"an empty and Ana":  {{console.ProxyHeader, proxySecret}, {userHeader, ""}, {userHeader, "Ana"}},
		"a list":            {{console.ProxyHeader, proxySecret}, {userHeader, "Ana, Bob"}},
		"the gate":          {{console.ProxyHeader, proxySecret}, {userHeader, "gate"}},
		"what nobody sees":  {{console.ProxyHeader, proxySecret}, {userHeader, "Ana\u200b"}},
		"not UTF-8":         {{console.ProxyHeader, proxySecret}, {userHeader, "Ana\xff"}},
		"another spelling":  {{"Umpire_Proxy", proxySecret}, {"X_Forwarded_User", "Ana"}},
		"nothing of either": nil,
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			path := map[string]string{http.MethodGet: "/", http.MethodPost: "/sign-in"}[method]
			r := ok(http.NewRequestWithContext(t.Context(), method, "http://"+w.console.RemoteAddress()+path,
				strings.NewReader("{}")))(t)
			r.Host = remoteHost
			r.Header = http.Header{"User-Agent": {b.agent}, "Origin": {remoteOrigin}, "Content-Type": {"application/json"}}
			if err := b.page.Sign(r, remoteOrigin); err != nil {
				t.Fatal(err)
			}
			for _, h := range headers {
				r.Header.Add(h[0], h[1])
			}
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if response.StatusCode != http.StatusForbidden {
				t.Errorf("%s: %s: %d", what, method, response.StatusCode)
			}
		}
	}
	p.set("Ana\t")
	if a := b.send(t, http.MethodGet, "/", ""); a.status != http.StatusOK {
		t.Errorf("Ana's own browser: %d %s", a.status, a.body) // a header has no blanks at its end
	}
}
