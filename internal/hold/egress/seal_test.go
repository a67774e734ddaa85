package egress

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// fetchedFrom returns a world whose proxy only fetches from example.com, and what its command trusts.
func fetchedFrom(t *testing.T) (w *world, trusted *x509.CertPool) {
	t.Helper()
	w = newWorld(t)
	w.proxy.List = List{[]Entry{
		{Text: "pages", Group: "pages", Quota: DefaultQuota, host: "example.com", port: portHTTPS},
		{Text: "pages", Group: "pages", Quota: DefaultQuota, host: "example.com", port: portHTTP},
	}}
	address, roots := secureSite(t)
	w.proxy.roots = roots
	w.host("example.com", "93.184.216.34", portHTTPS, address)
	w.host("", "93.184.216.34", portHTTP, website(t))
	text, err := w.proxy.Authorities()
	if err != nil {
		t.Fatal(err)
	}
	trusted = x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(text) {
		t.Fatalf("%s", text)
	}
	return w, trusted
}

// TestOnlyFetches: to a host that only serves files, nothing but the head of a request leaves.
func TestOnlyFetches(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		request, answer string
		why             Reason
	}{
		"fetch":         {"GET /a?b HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n", "GET example.com /a?b", 0},
		"with its port": {"GET / HTTP/1.1\r\nHost: example.com:443\r\nConnection: close\r\n\r\n", "GET example.com /", 0},
		"head":          {"HEAD / HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n", "200 OK", 0},
		"publish":       {"PUT /a HTTP/1.1\r\nHost: example.com\r\nContent-Length: 6\r\n\r\nsecret", "403 ", NotFetching},
		"post":          {"POST /a HTTP/1.1\r\nHost: example.com\r\nContent-Length: 0\r\n\r\n", "403 ", NotFetching},
		"body":          {"GET /a HTTP/1.1\r\nHost: example.com\r\nContent-Length: 6\r\n\r\nsecret", "403 ", NotFetching},
		"chunks": {
			"GET /a HTTP/1.1\r\nHost: example.com\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nsecret\r\n0\r\n\r\n",
			"403 ", NotFetching,
		},
		"fronting": {"GET / HTTP/1.1\r\nHost: other.example\r\n\r\n", "403 ", OtherHost},
	} {
		for _, way := range []string{"proxy", "direct", "plain"} {
			t.Run(name+", "+way, func(t *testing.T) {
				t.Parallel()
				w, trusted := fetchedFrom(t)
				port, request := "443", tt.request
				var conn io.ReadWriter
				switch way {
				case "plain":
					port, request = "80", strings.ReplaceAll(request, ":443", ":80")
					fallthrough
				case "proxy":
					tunnel := w.open(t)
					if connect(t, tunnel, "example.com:"+port) != http.StatusOK {
						t.Fatal("no tunnel")
					}
					conn = tunnel
				default:
					conn = w.direct(t, "example.com", portHTTPS)
				}
				raw := conn.(io.Closer)
				if way != "plain" {
					conn = tls.Client(conn.(*net.TCPConn), &tls.Config{ServerName: "example.com", RootCAs: trusted})
				}
				_, _ = io.WriteString(conn, request)
				answer, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: tt.request[:4]})
				if err != nil {
					t.Fatal(err)
				}
				body, _ := io.ReadAll(answer.Body)
				answer.Body.Close()
				raw.Close()
				got := answer.Status + " " + string(body)
				if !strings.Contains(got, tt.answer) || strings.Contains(got, `body "secret`) {
					t.Errorf("%s", got)
				}
				w.refuses(tt.why)
			})
		}
	}
}

// TestConnectionAhead: a connection that a program opens and never uses counts as no refusal.
func TestConnectionAhead(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*net.TCPConn) error{
		"closed": (*net.TCPConn).Close, "reset": func(c *net.TCPConn) error { return errors.Join(c.SetLinger(0), c.Close()) },
	} {
		w, trusted := fetchedFrom(t)
		raw := w.direct(t, "example.com", portHTTPS)
		err := tls.Client(raw, &tls.Config{ServerName: "example.com", RootCAs: trusted}).Handshake()
		if err = errors.Join(err, end(raw)); err != nil {
			t.Fatal(err)
		}
		if c := w.record(); c.Reason != 0 || c.How == Refused {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// TestAuthorityIsNarrow: the authority of a command holds for its hosts alone, and a server that this machine does not
// trust is not reached.
func TestAuthorityIsNarrow(t *testing.T) {
	t.Parallel()
	w, trusted := fetchedFrom(t)
	forged, err := w.proxy.authority.leaf("other.example")
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(forged.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: trusted, DNSName: "other.example"}); err == nil {
		t.Error("a certificate for another host is valid")
	}
	w.proxy.roots = x509.NewCertPool()
	if status := connect(t, w.open(t), "example.com:443"); status != http.StatusBadGateway {
		t.Errorf("got %d", status)
	}
	w.refuses(NotTrusted)
	if text, err := new(Proxy).Authorities(); text != nil || err != nil {
		t.Errorf("a proxy without groups has an authority: %v", err)
	}
}
