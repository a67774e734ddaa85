package console_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/fake"
	"github.com/umpirehq/umpire/internal/console"
	"github.com/umpirehq/umpire/internal/console/notice"
)

const (
	remoteHost   = "umpire.example"
	remoteOrigin = "https://" + remoteHost
)

// writeCertificate writes a certificate for the remote host, and its key, into a folder.
func writeCertificate(t testing.TB, folder string) (certificate, key string) {
	t.Helper()
	private := ok(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	serial := ok(rand.Int(rand.Reader, big.NewInt(1<<62)))(t)
	template := &x509.Certificate{
		SerialNumber: serial, DNSNames: []string{remoteHost}, BasicConstraintsValid: true, IsCA: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	made := ok(x509.CreateCertificate(rand.Reader, template, template, private.Public(), private))(t)
	certificate, key = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	for path, block := range map[string]*pem.Block{
		certificate: {Type: "CERTIFICATE", Bytes: made},
		key:         {Type: "PRIVATE KEY", Bytes: ok(x509.MarshalPKCS8PrivateKey(private))(t)},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}

// listenRemote opens the console for other machines, and returns a terminal with a link for them.
func (w *world) listenRemote(t testing.TB, lang string) (p *terminal, certificate string) {
	t.Helper()
	certificate, key := writeCertificate(t, t.TempDir())
	folder := t.TempDir()
	w.push = &notice.Push{
		Subject: remoteOrigin, KeyFile: filepath.Join(folder, "key.pem"), File: filepath.Join(folder, "push.json"),
	}
	err := w.console.ListenRemote(t.Context(), console.Remote{
		Origin: remoteOrigin, Listen: "127.0.0.1:0", Certificate: console.CertificateIn(certificate, key), Push: w.push,
	})
	if err != nil {
		t.Fatal(err)
	}
	p = followTerminal(t, w.console, lang, true)
	t.Cleanup(p.close)
	return p, certificate
}

// remoteBrowser is a browser on another machine that trusts a certificate.
func (w *world) remoteBrowser(t testing.TB, certificate string) *browser {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ok(os.ReadFile(certificate))(t))
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, w.console.RemoteAddress())
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &browser{world: w, client: &http.Client{Transport: transport}, agent: "test phone", base: remoteOrigin}
}

// A certificate that is being renewed does not close the console: the old one counts until both files of
// the new one can be read and fit each other.
func TestCertificateIsRenewed(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	certificate, key := writeCertificate(t, folder)
	read := console.CertificateIn(certificate, key)
	first := ok(read())(t)
	newer, newKey := writeCertificate(t, t.TempDir())
	later := time.Now().Add(time.Minute)
	replace := func(to, from string, mode os.FileMode) {
		if err := errors.Join(os.Remove(to), os.WriteFile(to, ok(os.ReadFile(from))(t), mode), os.Chtimes(to, later, later)); err != nil {
			t.Fatal(err)
		}
	}
	replace(certificate, newer, 0o600)
	if got, err := read(); err == nil || got != first {
		t.Errorf("with the key of another one: %v, the old one: %t", err, got == first)
	}
	replace(key, newKey, 0o644)
	if got, err := read(); err == nil || got != first {
		t.Errorf("with a key that others can read: %v, the old one: %t", err, got == first)
	}
	if err := os.Chmod(key, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := read(); err != nil || got == first {
		t.Errorf("with both: %v, the old one: %t", err, got == first)
	}
}

func TestRemoteSignIn(t *testing.T) {
	t.Parallel()
	w, local := newWorld(t, "en")
	w.ask(t, bash("npm install left-pad"))
	p, certificate := w.listenRemote(t, "en")
	phone := w.remoteBrowser(t, certificate)
	if a := phone.signIn(t, local.token(t)); a.status != http.StatusForbidden || phone.page != nil {
		t.Errorf("a link for this machine: %d %s", a.status, a.body)
	}
	here := w.browser(t)
	stolen := followTerminal(t, w.console, "en", true)
	defer stolen.close()
	if a := here.signIn(t, stolen.token(t)); a.status != http.StatusForbidden || here.page != nil {
		t.Errorf("a link for a phone on this machine: %d %s", a.status, a.body)
	}
	if a := phone.signIn(t, p.token(t)); a.status != http.StatusOK || a.header.Get("Set-Cookie") != "" {
		t.Errorf("signing in: %d %s, %v", a.status, a.body, a.header)
	}
	if a := phone.send(t, http.MethodGet, "/", ""); !strings.Contains(a.body, "left-pad") {
		t.Errorf("the question is not on the page: %d %s", a.status, a.body)
	}
	here.agent, here.page = phone.agent, phone.page
	if a := here.send(t, http.MethodGet, "/events", ""); a.status != http.StatusUnauthorized {
		t.Errorf("the phone's key on this machine: %d", a.status)
	}
	if a := phone.send(t, http.MethodPost, "/sign-out", ""); a.status != http.StatusOK {
		t.Errorf("signing out: %d", a.status)
	}
	if a := phone.send(t, http.MethodGet, "/events", ""); a.status != http.StatusUnauthorized {
		t.Errorf("after signing out: %d", a.status)
	}
}

// Requests that a page of the remote address never makes show and change nothing.
func TestForeignRequestsFromElsewhere(t *testing.T) {
	t.Parallel()
	w, _ := newWorld(t, "en")
	asked := w.ask(t, bash("npm install left-pad"))
	p, certificate := w.listenRemote(t, "en")
	phone := w.remoteBrowser(t, certificate)
	phone.signIn(t, p.token(t))
	for name, headers := range map[string][]string{
		"rebound":                       {"Host", "evil.example"},
		"the address of the listener":   {"Host", w.console.RemoteAddress()},
		"the address on this machine":   {"Host", w.console.Address()},
		"another port of the host":      {"Host", remoteHost + ":8443"},
		"the host in capitals":          {"Host", strings.ToUpper(remoteHost)},
		"cross-site":                    {"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"},
		"a host below":                  {"Sec-Fetch-Site", "same-site", "Origin", "https://a." + remoteHost},
		"without TLS":                   {"Sec-Fetch-Site", "", "Origin", "http://" + remoteHost},
		"a page on the gate's machine":  {"Sec-Fetch-Site", "", "Origin", "http://" + w.console.Address()},
		"a page without an origin":      {"Origin", "null"},
		"an old browser, another site":  {"Sec-Fetch-Site", "", "Origin", "https://evil.example"},
		"a proxy's word for the origin": {"Host", "evil.example", "X-Forwarded-Host", remoteHost},
	} {
		for _, at := range guarded {
			a := phone.send(t, at.method, at.path, bound(t, &asked[0], map[string]any{"answer": "deny"}), headers...)
			if a.status != http.StatusForbidden || strings.Contains(a.body, "left-pad") {
				t.Errorf("%s: %s %s: %d\n%s", name, at.method, at.path, a.status, a.body)
			}
		}
	}
	for _, headers := range [][]string{{"Umpire-Signature", ""}, {"Umpire-Signature", "x"}, {"Origin", "", "Sec-Fetch-Site", ""}} {
		a := phone.send(t, http.MethodPost, "/answer", bound(t, &asked[0], map[string]any{"answer": "deny"}), headers...)
		if a.status != http.StatusForbidden && a.status != http.StatusUnauthorized {
			t.Errorf("%q: %d %s", headers, a.status, a.body)
		}
	}
	if list := ok(w.gate.Pending(t.Context(), umpire.PendingQuery{}))(t); len(list) != 1 {
		t.Errorf("%d wait, want the one", len(list))
	}
}

// Browsers on other machines can deny calls, but not approve without a passkey or for longer, or try calls.
func TestRemoteAnswers(t *testing.T) {
	t.Parallel()
	w, _ := newWorld(t, "en")
	asked := append(w.ask(t, write("a.txt")), w.ask(t, write("b.txt"))...)
	p, certificate := w.listenRemote(t, "en")
	phone := w.remoteBrowser(t, certificate)
	phone.signIn(t, p.token(t))
	for _, fields := range []map[string]any{
		{}, {"scope": "session", "width": "exact"}, {"scope": "project"}, {"scope": "global"}, {"code": "coda"},
		{"answer": "try"},
	} {
		a := phone.send(t, http.MethodPost, "/answer", bound(t, &asked[0], fields))
		if a.status/100 != 4 {
			t.Errorf("%v: %d %s", fields, a.status, a.body)
		}
	}
	for _, path := range []string{"/code", "/undo", "/rules/code", "/rules/remove"} {
		if a := phone.send(t, http.MethodPost, path, bound(t, &asked[0], nil)); a.status != http.StatusForbidden {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	for i, choice := range []string{"deny", "cancel"} {
		a := phone.send(t, http.MethodPost, "/answer", bound(t, &asked[i], map[string]any{"answer": choice}))
		if a.status != http.StatusOK {
			t.Errorf("%s: %d %s", choice, a.status, a.body)
		}
	}
	if list := ok(w.gate.Pending(t.Context(), umpire.PendingQuery{}))(t); len(list) != 0 {
		t.Errorf("%d wait, want none", len(list))
	}
}

// A proxy on this machine may speak TLS for the gate, which then listens only for the proxy.
func TestRemoteBehindAProxy(t *testing.T) {
	t.Parallel()
	w, local := newWorld(t, "en")
	if err := w.console.Open(t.Context(), "en", "", true, lineTaker(local.lines)); err == nil {
		t.Error("there is a link for an address that nobody configured")
	}
	open := console.Remote{Origin: remoteOrigin, Listen: "0.0.0.0:0"}
	if err := w.console.ListenRemote(t.Context(), open); err == nil {
		t.Fatal("it listens for other machines without TLS")
	}
	if err := w.console.ListenRemote(t.Context(), console.Remote{Origin: remoteOrigin, Listen: "127.0.0.1:0"}); err != nil {
		t.Fatal(err)
	}
	p := followTerminal(t, w.console, "en", true)
	defer p.close()
	b := w.browser(t)
	b.base = "http://" + w.console.RemoteAddress() // as the proxy calls it
	page := ok(fake.NewSigner())(t)
	body := string(ok(json.Marshal(map[string]any{"token": p.token(t), "key": ok(page.PublicKey())(t)}))(t))
	if a := b.send(t, http.MethodPost, "/sign-in", body); a.status != http.StatusForbidden {
		t.Errorf("without the proxy: %d %s", a.status, a.body)
	}
	a := b.send(t, http.MethodPost, "/sign-in", body, "Host", remoteHost, "Origin", remoteOrigin)
	if a.status != http.StatusOK || page.Admit([]byte(a.body)) != nil {
		t.Errorf("through the proxy: %d %s", a.status, a.body)
	}
}

// A renewed certificate is used without a restart, and its key must be private.
func TestCertificateIsReadAgain(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	certificate, key := writeCertificate(t, folder)
	read := console.CertificateIn(certificate, key)
	first := ok(read())(t)
	if again := ok(read())(t); again != first {
		t.Error("it is read again for nothing")
	}
	writeCertificate(t, folder)
	later := time.Now().Add(time.Minute)
	for _, path := range []string{certificate, key} {
		if err := os.Chtimes(path, later, later); err != nil {
			t.Fatal(err)
		}
	}
	if renewed := ok(read())(t); renewed.Leaf.SerialNumber.Cmp(first.Leaf.SerialNumber) == 0 {
		t.Error("the old certificate is still in use")
	}
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := console.CertificateIn(certificate, key)(); err == nil || !strings.Contains(err.Error(), "read by others") {
		t.Errorf("a key that others can read: %v", err)
	}
}
