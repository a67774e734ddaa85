package egress

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const publicAddr = "93.184.215.14"

// TestUnlisted: no byte leaves for an unlisted destination, and the client is told in its own protocol.
func TestUnlisted(t *testing.T) {
	t.Parallel()
	const line = "telemetry.example isn't one of the destinations you listed"
	for what, c := range map[string]struct {
		sent, want string
		why        Reason
	}{
		"CONNECT":                 {"CONNECT telemetry.example:443 HTTP/1.1\r\nHost: telemetry.example:443\r\n\r\n", "HTTP/1.1 403 " + line, NotListed},
		"GET":                     {"GET http://telemetry.example/?q=secret HTTP/1.1\r\nHost: telemetry.example\r\n\r\n", "HTTP/1.1 403 " + line, NotListed},
		"SOCKS5":                  {"\x05\x01\x00\x05\x01\x00\x03\x11telemetry.example\x01\xbb", "\x05\x00\x05\x02\x00\x01", NotListed},
		"SOCKS5 by address":       {"\x05\x01\x00\x05\x01\x00\x01\x01\x01\x01\x01\x01\xbb", "\x05\x00\x05\x02", NotListed},
		"SOCKS5, metadata":        {"\x05\x01\x00\x05\x01\x00\x01\xa9\xfe\xa9\xfe\x00\x50", "\x05\x00\x05\x02", MetadataAddress},
		"SOCKS5, address as name": {"\x05\x01\x00\x05\x01\x00\x03\x09127.0.0.1\x00\x50", "\x05\x00\x05\x02", PrivateAddress},
		"another port":            {"CONNECT example.com:22 HTTP/1.1\r\n\r\n", "HTTP/1.1 400", BadDemand},
		"another port, whole":     {"CONNECT example.com:22 HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 403 example.com is listed, but not with port 22", PortNotListed},
		"a random name":           {"CONNECT mzxw6ytboi4dkmrtgq3tqojq.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 403 ", RandomName},
		"an address":              {"CONNECT 1.1.1.1:443 HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 403 ", NotListed},
		"a private address":       {"CONNECT 10.0.0.1:443 HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 403 ", PrivateAddress},
		"metadata":                {"GET http://169.254.169.254/latest HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 403 ", MetadataAddress},
		"mapped metadata":         {"CONNECT [::ffff:a9fe:a9fe]:80 HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 403 ", MetadataAddress},
		"a short address":         {"CONNECT 127.1:80 HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400 ", BadDemand},
		"a user":                  {"GET http://example.com@evil.example/ HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400 ", BadDemand},
		"no proxy request":        {"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n", "HTTP/1.1 400 ", BadDemand},
		"HTTPS by GET":            {"GET https://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n", "HTTP/1.1 400 ", BadDemand},
		"a body of CONNECT":       {"CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx", "HTTP/1.1 400 ", BadDemand},
		"TLS":                     {string(helloOf("example.com")), "", BadDemand},
		"SOCKS4":                  {"\x04\x01\x00\x50\x01\x01\x01\x01\x00", "", BadDemand},
		"SOCKS5 with a password":  {"\x05\x01\x02", "\x05\xff", BadDemand},
		"SOCKS5 BIND":             {"\x05\x01\x00\x05\x02\x00\x03\x0bexample.com\x01\xbb", "\x05\x00\x05\x07", BadDemand},
		"SOCKS5 UDP":              {"\x05\x01\x00\x05\x03\x00\x03\x0bexample.com\x01\xbb", "\x05\x00\x05\x07", BadDemand},
		"SOCKS5 without a name":   {"\x05\x01\x00\x05\x01\x00\x03\x00\x01\xbb", "\x05\x00\x05\x01", BadDemand},
		"SOCKS5, bad kind":        {"\x05\x01\x00\x05\x01\x00\x02", "\x05\x00\x05\x08", BadDemand},
		"SOCKS5, zero in a name":  {"\x05\x01\x00\x05\x01\x00\x03\x0cexample.com\x00\x01\xbb", "\x05\x00\x05\x01", BadDemand},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "example.com", "*.example.com")
			got := say(w.open(t), c.sent)
			if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Errorf("got %q, want %q", got, c.want)
			}
			done := w.refuses(c.why)
			if done.How != Refused || done.Up != 0 || done.Address.IsValid() {
				t.Errorf("recorded %+v", done)
			}
			w.silent()
		})
	}
}

func TestUnlistedDirect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "example.com")
	for _, d := range []Destination{{"telemetry.example", 443}, {"example.com", 25}, {"10.0.0.1", 80}, {}, {"a b", 80}} {
		conn := w.direct(t, d.Host, d.Port)
		if got, err := io.ReadAll(conn); err == nil || len(got) > 0 {
			t.Errorf("%v: read %q: %v", d, got, err)
		}
		if done := w.record(); done.How != Refused || done.Reason == 0 {
			t.Errorf("%v: %+v", d, done)
		}
	}
	w.silent()
}

// TestZero: a Proxy without fields refuses.
func TestZero(t *testing.T) {
	t.Parallel()
	ours, theirs := pair(t)
	go new(Proxy).ServeProxy(t.Context(), theirs)
	if got := connect(t, ours, "example.com:443"); got != 403 {
		t.Error(got)
	}
}

// TestTLS: a listed host is reached by each way in, with the name in the handshake.
func TestTLS(t *testing.T) {
	t.Parallel()
	site, roots := secureSite(t)
	w := newWorld(t, "example.com")
	w.host("example.com", publicAddr, 443, site)
	for what, open := range map[string]func() net.Conn{
		"CONNECT": func() net.Conn {
			conn := w.open(t)
			if got := connect(t, conn, "example.com:443"); got != 200 {
				t.Error(got)
			}
			return conn
		},
		"SOCKS5": func() net.Conn {
			conn := w.open(t)
			_, _ = io.WriteString(conn, "\x05\x02\x02\x00\x05\x01\x00\x03\x0bexample.com\x01\xbb")
			_, _ = io.ReadFull(conn, make([]byte, 12))
			return conn
		},
		"direct": func() net.Conn { return w.direct(t, "Example.com.", 443) },
	} {
		conn := tls.Client(open(), &tls.Config{ServerName: "example.com", RootCAs: roots})
		got := say(conn, "GET /x HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n")
		if !strings.Contains(got, "GET example.com /x") {
			t.Errorf("%s: %q", what, got)
		}
		conn.Close()
		done := w.refuses(0)
		if done.How != ByEntry || done.Entry.Text != "example.com" || done.Up < 300 || done.Down < 500 ||
			done.Address.String() != publicAddr+":443" || done.Destination != example {
			t.Errorf("%s: recorded %+v", what, done)
		}
	}
	asked, dialled := w.reached()
	if len(asked) != 3 || len(dialled) != 3 || asked[0] != "example.com." {
		t.Errorf("resolved %q, connected to %q", asked, dialled)
	}
}

// TestTLSRefused: a handshake for another server does not leave.
func TestTLSRefused(t *testing.T) {
	t.Parallel()
	got := make(chan []byte, 10)
	server := listen(t, func(conn *net.TCPConn) {
		all, _ := io.ReadAll(conn)
		got <- all
	})
	w := newWorld(t, "example.com", "example.com:8443", "1.1.1.1")
	w.host("example.com", publicAddr, 443, server)
	w.host("example.com", publicAddr, 80, server)
	w.host("example.com", publicAddr, 8443, server)
	w.host("", "1.1.1.1", 443, server)
	evil := helloOf("evil.example")
	for _, c := range []struct {
		to   Destination
		sent []byte
		why  Reason
	}{
		{example, evil, OtherServerName},
		{Destination{"example.com", 80}, evil, OtherServerName},
		{Destination{"example.com", 8443}, evil, OtherServerName},
		{Destination{"1.1.1.1", 443}, evil, OtherServerName},
		{example, helloOf(""), NoServerName},
		{example, []byte("\x16\x03\x01\x00\x01\x05"), BadHello},
		{example, []byte("SSH-2.0-x\r\n"), NotWeb},
		{example, []byte("\x80\x2e\x01\x00\x02"), NotWeb},
		{Destination{"example.com", 80}, []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), NotWeb},
	} {
		conn := w.direct(t, c.to.Host, c.to.Port)
		_, _ = conn.Write(c.sent)
		answer, _ := io.ReadAll(conn)
		conn.Close()
		if done := w.refuses(c.why); done.Up != 0 {
			t.Errorf("%v: %d bytes left", c.to, done.Up)
		}
		if all := <-got; len(all) > 0 {
			t.Errorf("%v: %q left", c.to, all)
		}
		if c.sent[0] == 22 && len(answer) > 0 && string(answer) != string(accessDenied) {
			t.Errorf("%v: answered %q", c.to, answer)
		}
	}
}

// TestSecondHello: after a server asks for another client hello, that one is checked too.
func TestSecondHello(t *testing.T) {
	t.Parallel()
	first := helloOf("example.com")
	random := make([]byte, 64)
	retry := append([]byte{22, 3, 3, 0, 70, 2, 0, 0, 66, 3, 3}, append(retryRandom, random[:32]...)...)
	dummies := "\x14\x03\x03\x00\x01\x01\x17\x03\x03\x00\x02ab"
	for what, c := range map[string]struct {
		second string
		answer []byte
		why    Reason
		passes bool
	}{
		"the same name":          {dummies + string(first), retry, 0, true},
		"another name":           {dummies + string(helloOf("evil.example")), retry, OtherServerName, false},
		"another name at once":   {string(helloOf("evil.example")), retry, OtherServerName, false},
		"an alert":               {"\x15\x03\x03\x00\x02\x02\x28", retry, 0, true},
		"no retry":               {"\x17\x03\x03\x00\x02ab", append(retry[:11:11], random[:60]...), 0, true},
		"an answer in fragments": {"", append([]byte{22, 3, 3, 0, 1, 2, 22, 3, 3, 0, 60}, random...), BadResponse, false},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			rest := make(chan string, 1)
			server := listen(t, func(conn *net.TCPConn) {
				_, _ = io.ReadFull(conn, make([]byte, len(first)))
				_, _ = conn.Write(c.answer)
				all, _ := io.ReadAll(conn)
				rest <- string(all)
			})
			w := newWorld(t, "example.com")
			w.host("example.com", publicAddr, 443, server)
			conn := w.direct(t, "example.com", 443)
			_, _ = conn.Write(first)
			if c.why != BadResponse {
				_, _ = io.ReadFull(conn, make([]byte, len(c.answer)))
			}
			_, _ = io.WriteString(conn, c.second)
			_ = conn.CloseWrite()
			got := <-rest
			if evil := strings.Contains(got, "evil"); evil || c.passes && got != c.second {
				t.Errorf("%q reached the server", got)
			}
			w.refuses(c.why)
		})
	}
}

// TestRetry: a real handshake with two client hellos passes.
func TestRetry(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(describe))
	server.TLS = &tls.Config{CurvePreferences: []tls.CurveID{tls.CurveP521}}
	server.StartTLS()
	t.Cleanup(server.Close)
	w := newWorld(t, "example.com")
	w.host("example.com", publicAddr, 443, server.Listener.Addr().String())
	conn := tls.Client(w.direct(t, "example.com", 443), &tls.Config{
		ServerName: "example.com", RootCAs: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs,
	})
	got := say(conn, "GET /x HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n")
	if !strings.Contains(got, "GET example.com /x") || !conn.ConnectionState().HelloRetryRequest {
		t.Errorf("%q, second hello %v", got, conn.ConnectionState().HelloRetryRequest)
	}
}

// TestAddressOfName: the connection goes to an address that was checked, and the name is not resolved again.
func TestAddressOfName(t *testing.T) {
	t.Parallel()
	server := echo(t, "")
	for what, c := range map[string]struct {
		addrs   string
		entries string
		why     Reason
		dialled string
	}{
		"public":               {publicAddr, "", 0, publicAddr + ":5432"},
		"loopback":             {"127.0.0.1", "", PrivateAddress, ""},
		"private":              {"10.0.0.7", "", PrivateAddress, ""},
		"mapped":               {"::ffff:10.0.0.7", "", PrivateAddress, ""},
		"metadata":             {"169.254.169.254", "", MetadataAddress, ""},
		"one bad, one good":    {"10.0.0.7 ::1 " + publicAddr, "", 0, publicAddr + ":5432"},
		"mapped and good":      {"::ffff:" + publicAddr, "", 0, publicAddr + ":5432"},
		"listed itself":        {"10.0.0.7", "10.0.0.0/8:5432", 0, "10.0.0.7:5432"},
		"listed, another port": {"10.0.0.7", "10.0.0.0/8", PrivateAddress, ""},
		"metadata in a prefix": {"169.254.169.254", "169.254.0.0/16:5432", MetadataAddress, ""},
		"metadata itself":      {"169.254.169.254", "169.254.169.254:5432", 0, "169.254.169.254:5432"},
		"none":                 {"", "", NoAddress, ""},
		"nothing listens":      {"1.1.1.1", "", Unreachable, "1.1.1.1:5432"},
		"the next one listens": {"1.1.1.1 " + publicAddr, "", 0, "1.1.1.1:5432 " + publicAddr + ":5432"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, append([]string{"db.example.com:5432"}, strings.Fields(c.entries)...)...)
			for addr := range strings.FieldsSeq(c.addrs) {
				listener := server
				if addr == "1.1.1.1" {
					listener = ""
				}
				w.host("db.example.com", addr, 5432, listener)
				w.host("", netip.MustParseAddr(addr).Unmap().String(), 5432, listener)
			}
			conn := w.direct(t, "db.example.com", 5432)
			_ = conn.CloseWrite()
			_, _ = io.ReadAll(conn)
			w.refuses(c.why)
			asked, dialled := w.reached()
			if got := strings.Join(dialled, " "); got != c.dialled || len(asked) != 1 {
				t.Errorf("connected to %q, want %q; resolved %q", got, c.dialled, asked)
			}
		})
	}
}

// TestRebinding: a second answer of the name server changes nothing.
func TestRebinding(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "db.example.com:5432")
	w.host("db.example.com", publicAddr, 5432, echo(t, ""))
	conn := w.direct(t, "db.example.com", 5432)
	_, _ = io.WriteString(conn, "x")
	readUntil(t, conn, "x")
	w.mu.Lock()
	w.names["db.example.com"] = []string{"127.0.0.1"}
	w.mu.Unlock()
	_, _ = io.WriteString(conn, "y")
	readUntil(t, conn, "y")
	conn.Close()
	again := w.direct(t, "db.example.com", 5432)
	_, _ = io.ReadAll(again)
	if asked, dialled := w.reached(); len(asked) != 2 || len(dialled) != 1 {
		t.Errorf("resolved %q, connected to %q", asked, dialled)
	}
}

// TestOwnAddresses: the addresses of the machine are refused, and all are if they are unknown.
func TestOwnAddresses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "example.com")
	w.names["example.com"] = []string{publicAddr}
	w.proxy.local = func() ([]netip.Prefix, error) { return prefixes(publicAddr + "/32"), nil }
	if got := connect(t, w.open(t), "example.com:443"); got != 403 {
		t.Error(got)
	}
	w.refuses(PrivateAddress)
	w.proxy.local = func() ([]netip.Prefix, error) { return nil, io.EOF }
	if got := connect(t, w.open(t), "example.com:443"); got != 403 {
		t.Error(got)
	}
	w.refuses(PrivateAddress)
}

// TestOpaque: on a listed port of another protocol, either side may speak first, and each may end its half.
func TestOpaque(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "git.example.com:22", "git.example.com:5432")
	w.host("git.example.com", publicAddr, 22, echo(t, "SSH-2.0-server\r\n"))
	w.host("git.example.com", publicAddr, 5432, echo(t, ""))
	conn := w.open(t)
	if got := connect(t, conn, "git.example.com:22"); got != 200 {
		t.Fatal(got)
	}
	if got := readUntil(t, conn, "\r\n"); got != "SSH-2.0-server\r\n" {
		t.Error(got)
	}
	for _, conn := range []*net.TCPConn{conn, w.direct(t, "git.example.com", 5432)} {
		_, _ = io.WriteString(conn, "GEneric words")
		readUntil(t, conn, "words")
		_, _ = io.WriteString(conn, "and an end")
		_ = conn.CloseWrite()
		if got, err := io.ReadAll(conn); string(got) != "and an end" || err != nil {
			t.Errorf("read %q: %v", got, err)
		}
		if done := w.refuses(0); done.Up != 23 {
			t.Errorf("recorded %+v", done)
		}
	}
	// A client that says nothing and ends its half still gets the words of the server.
	conn = w.direct(t, "git.example.com", 22)
	_ = conn.CloseWrite()
	if got, err := io.ReadAll(conn); string(got) != "SSH-2.0-server\r\n" || err != nil {
		t.Errorf("read %q: %v", got, err)
	}
}

// TestServerEndsFirst: the client can still send after the server's half has ended.
func TestServerEndsFirst(t *testing.T) {
	t.Parallel()
	rest := make(chan string, 1)
	w := newWorld(t, "db.example.com:5432")
	w.host("db.example.com", publicAddr, 5432, listen(t, func(conn *net.TCPConn) {
		_, _ = io.WriteString(conn, "bye")
		_ = conn.CloseWrite()
		all, _ := io.ReadAll(conn)
		rest <- string(all)
	}))
	conn := w.direct(t, "db.example.com", 5432)
	if got, err := io.ReadAll(conn); string(got) != "bye" || err != nil {
		t.Fatalf("%q: %v", got, err)
	}
	_, _ = io.WriteString(conn, "last words")
	conn.Close()
	if got := <-rest; got != "last words" {
		t.Errorf("the server got %q", got)
	}
}

// TestInventedAddress: a program that resolved a name to an invented address gets the name's server.
func TestInventedAddress(t *testing.T) {
	t.Parallel()
	site, roots := secureSite(t)
	w := newWorld(t, "example.com")
	w.host("example.com", publicAddr, 443, site)
	w.proxy.NameOf = func(addr netip.Addr) (string, bool) {
		return "example.com", addr == netip.MustParseAddr("198.18.0.5")
	}
	conn := w.open(t)
	_, _ = io.WriteString(conn, "\x05\x01\x00\x05\x01\x00\x01\xc6\x12\x00\x05\x01\xbb")
	_, _ = io.ReadFull(conn, make([]byte, 12))
	if err := tls.Client(conn, &tls.Config{ServerName: "example.com", RootCAs: roots}).Handshake(); err != nil {
		t.Error(err)
	}
	if got := connect(t, w.open(t), "198.18.0.6:443"); got != 403 {
		t.Error(got)
	}
}

// TestAsk: connections to one unlisted destination wait for one answer, and others do not wait.
func TestAsk(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "example.com:5432")
	server := echo(t, "hello\n")
	w.host("example.com", publicAddr, 5432, server)
	w.host("new.example", publicAddr, 9418, server)
	asked, reply := make(chan Destination, 10), make(chan bool)
	w.proxy.Ask = func(ctx context.Context, d Destination, why Reason) bool {
		if why != NotListed {
			t.Errorf("asked for %s because of %d", d, why)
		}
		asked <- d
		select {
		case yes := <-reply:
			return yes
		case <-ctx.Done():
			return true // too late
		}
	}
	var waiting []*net.TCPConn
	for range 5 {
		waiting = append(waiting, w.direct(t, "new.example", 9418))
	}
	if d := <-asked; d != (Destination{"new.example", 9418}) {
		t.Error(d)
	}
	readUntil(t, w.direct(t, "example.com", 5432), "hello\n")
	if names, _ := w.reached(); len(names) != 1 {
		t.Errorf("resolved %q before the answer", names)
	}
	reply <- true
	for _, conn := range waiting {
		readUntil(t, conn, "hello\n")
		conn.Close()
		if done := w.refuses(0); done.How != ByPerson || done.Entry != (Entry{}) {
			t.Errorf("recorded %+v", done)
		}
	}
	refused := w.direct(t, "no.example", 443)
	<-asked
	reply <- false
	_, _ = io.ReadAll(refused)
	w.refuses(NotListed)
	_, _ = io.ReadAll(w.direct(t, "no.example", 443)) // the answer is known
	w.refuses(NotListed)
	late := w.direct(t, "late.example", 443)
	<-asked
	w.stop()
	_, _ = io.ReadAll(late)
	for done := w.record(); done.Destination.Host != "late.example"; done = w.record() {
	}
	if names, _ := w.reached(); len(names) > 6 {
		t.Errorf("resolved %q", names)
	}
}

// TestAskForName: a person may allow a name that a wildcard does not cover. Until then nothing is resolved.
func TestAskForName(t *testing.T) {
	t.Parallel()
	const name = "mzxw6ytboi4dkmrtgq3tqojq.example.com"
	w := newWorld(t, "*.example.com:5432")
	w.host(name, publicAddr, 5432, echo(t, "hello\n"))
	w.proxy.Ask = func(_ context.Context, d Destination, why Reason) bool {
		w.silent()
		if d.Host != name || why != RandomName {
			t.Errorf("asked for %s because of %d", d, why)
		}
		return true
	}
	conn := w.direct(t, name, 5432)
	readUntil(t, conn, "hello\n")
	conn.Close()
	if done := w.refuses(0); done.How != ByPerson || done.Entry.Text != "*.example.com:5432" {
		t.Errorf("recorded %+v", done)
	}
}

// TestStalled: clients that do not read and servers that do not answer hold up no other connection.
func TestStalled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "flood.example:5432", "mute.example", "example.com:5432")
	w.host("flood.example", publicAddr, 5432, listen(t, func(conn *net.TCPConn) {
		for block := make([]byte, 1<<20); ; {
			if _, err := conn.Write(block); err != nil {
				return
			}
		}
	}))
	w.host("mute.example", publicAddr, 80, listen(t, func(conn *net.TCPConn) { _, _ = io.Copy(io.Discard, conn) }))
	w.host("example.com", "93.184.215.15", 5432, echo(t, "hello\n"))
	for range 10 {
		_, _ = io.ReadFull(w.direct(t, "flood.example", 5432), make([]byte, 1))
		_, _ = io.WriteString(w.direct(t, "mute.example", 80), "GET / HTTP/1.1\r\nHost: mute.example\r\n\r\n")
	}
	readUntil(t, w.direct(t, "example.com", 5432), "hello\n")
	began := time.Now()
	w.stop()
	w.serve.Wait()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the end took %s", took)
	}
}

// TestManyQuestions: a command cannot ask without end.
func TestManyQuestions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.proxy.Ask = func(context.Context, Destination, Reason) bool { return false }
	for i := range maxQuestions {
		connect(t, w.open(t), fmt.Sprintf("host%d.example:443", i))
		w.refuses(NotListed)
	}
	connect(t, w.open(t), "more.example:443")
	w.refuses(ManyQuestions)
	connect(t, w.open(t), "host0.example:443")
	w.refuses(NotListed)
	w.silent()
}

// TestManyNames: names below a wildcard cannot carry data by their number.
func TestManyNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "*.example.com")
	for i := range maxNames {
		connect(t, w.open(t), fmt.Sprintf("n%d.example.com:443", i))
		w.refuses(NoAddress)
	}
	if got := connect(t, w.open(t), "more.example.com:443"); got != 403 {
		t.Error(got)
	}
	w.refuses(ManyNames)
	connect(t, w.open(t), "n0.example.com:443")
	w.refuses(NoAddress)
	if asked, _ := w.reached(); len(asked) != maxNames+1 {
		t.Errorf("resolved %d names", len(asked))
	}
}

// TestQuota: what is sent counts for all connections of an entry together; a person may extend it.
func TestQuota(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "*.example.com:5432")
	w.proxy.List.entries[0].Quota = 1000
	for _, name := range []string{"a.example.com", "b.example.com"} {
		w.host(name, publicAddr, 5432, echo(t, ""))
	}
	for i, name := range []string{"a.example.com", "b.example.com"} {
		conn := w.direct(t, name, 5432)
		_, _ = conn.Write(make([]byte, 400))
		_, _ = io.ReadFull(conn, make([]byte, 400))
		if i == 1 {
			_, _ = conn.Write(make([]byte, 201))
			if got, err := io.ReadAll(conn); len(got) > 0 || err == nil {
				t.Errorf("read %d bytes: %v", len(got), err)
			}
			if done := w.refuses(OverQuota); done.Up != 400 || done.How != ByEntry {
				t.Errorf("recorded %+v", done)
			}
			continue
		}
		conn.Close()
		w.refuses(0)
	}
	if got := connect(t, w.open(t), "a.example.com:5432"); got != 403 {
		t.Error(got)
	}
	if done := w.refuses(OverQuota); done.How != Refused {
		t.Errorf("recorded %+v", done)
	}
	var asked []Reason
	w.proxy.Ask = func(_ context.Context, _ Destination, why Reason) bool {
		asked = append(asked, why)
		return len(asked) == 1
	}
	for range 2 {
		conn := w.direct(t, "a.example.com", 5432)
		_, _ = conn.Write(make([]byte, 700))
		_, _ = io.ReadFull(conn, make([]byte, 700))
		_, _ = conn.Write(make([]byte, 700))
		_, _ = io.ReadAll(conn)
		w.refuses(OverQuota)
	}
	if len(asked) != 2 || asked[0] != OverQuota || asked[1] != OverQuota {
		t.Errorf("asked %v", asked)
	}
}

// TestQuotaExact: many writers at once get no byte more.
func TestQuotaExact(t *testing.T) {
	t.Parallel()
	q := &quota{left: 1000, size: 1000}
	var all sync.WaitGroup
	var mu sync.Mutex
	sent := 0
	for range 8 {
		all.Go(func() {
			for q.spend(7) {
				mu.Lock()
				sent += 7
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if sent > 1000 || sent < 990 {
		t.Errorf("%d bytes were sent", sent)
	}
	round, spent := q.spent()
	q.extend(round)
	q.extend(round) // another connection waited for the same answer
	if q.spend(1001+1000-sent) || !spent {
		t.Error("one answer extends the quota twice")
	}
}

// TestManyConnections: the limit holds, and a connection that ends makes room.
func TestManyConnections(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var open []*net.TCPConn
	for range maxConnections {
		open = append(open, w.open(t))
	}
	for w.served() < maxConnections {
		runtimeYield(t)
	}
	if got, err := io.ReadAll(w.open(t)); len(got) > 0 {
		t.Errorf("read %q: %v", got, err)
	}
	w.refuses(ManyConnections)
	open[0].Close()
	w.refuses(BadDemand)
	for w.served() == maxConnections {
		runtimeYield(t)
	}
	if got := connect(t, w.open(t), "example.com:443"); got != 403 {
		t.Error(got)
	}
}

func (w *world) served() int {
	w.proxy.mu.Lock()
	defer w.proxy.mu.Unlock()
	return w.proxy.serving
}

func runtimeYield(t *testing.T) {
	t.Helper()
	select {
	case <-t.Context().Done():
		t.Fatal("the test has ended")
	case <-time.After(time.Millisecond):
	}
}

// TestStop: the end of the context ends connections in every state, and no goroutine stays.
func TestStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "example.com", "example.com:5432")
	w.times(time.Minute, time.Hour)
	w.host("example.com", publicAddr, 5432, echo(t, "hello\n"))
	w.host("example.com", publicAddr, 443, echo(t, ""))
	w.host("example.com", publicAddr, 80, echo(t, ""))
	w.proxy.Ask = func(ctx context.Context, _ Destination, _ Reason) bool { <-ctx.Done(); return true }
	began := time.Now()
	w.open(t)
	_, _ = io.WriteString(w.open(t), "CONNECT example")
	_, _ = io.WriteString(w.open(t), "\x05\x01")
	_, _ = io.WriteString(w.open(t), "CONNECT ask.example:443 HTTP/1.1\r\nHost: x\r\n\r\n")
	connect(t, w.open(t), "example.com:443")
	_, _ = w.direct(t, "example.com", 443).Write(helloOf("example.com")[:40])
	_, _ = w.direct(t, "example.com", 443).Write(helloOf("example.com"))
	readUntil(t, w.direct(t, "example.com", 5432), "hello\n")
	_, _ = io.WriteString(w.direct(t, "example.com", 80), "POST / HTTP/1.1\r\nHost: example.com\r\nContent-Length: 9\r\n\r\n")
	w.stop()
	w.serve.Wait()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	if names, _ := w.reached(); strings.Contains(strings.Join(names, " "), "ask.example") {
		t.Error("a late answer counts")
	}
	for range 9 {
		w.record()
	}
}

func (w *world) times(hello, idle time.Duration) { w.proxy.times = &times{hello, idle} }

// TestTooSlow: a client that trickles or says nothing is cut.
func TestTooSlow(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		start, drop string
		why         Reason
	}{
		"silence":     {"", "", TooSlow},
		"a head":      {"CONNECT example.com:443 HTTP/1.1\r\n", "x", TooSlow},
		"SOCKS5":      {"\x05", "", TooSlow},
		"a tunnel":    {"CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n", "", TooSlow},
		"a hello":     {"CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n\x16\x03\x01\x02\x00\x01\x00\x01\xfc", "\x00", TooSlow},
		"another one": {"CONNECT example.com:5432 HTTP/1.1\r\nHost: x\r\n\r\n", "", Idle},
		"after words": {"CONNECT example.com:5432 HTTP/1.1\r\nHost: x\r\n\r\nwords", "", Idle},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				list, _ := ParseList([]string{"example.com", "example.com:5432"})
				var done []Connection
				var far []net.Conn
				proxy := &Proxy{
					List: list, Resolver: fixedResolver{}, Record: func(c Connection) { done = append(done, c) },
					local: func() ([]netip.Prefix, error) { return nil, nil },
					Dial: func(context.Context, netip.AddrPort) (net.Conn, error) {
						near, end := net.Pipe()
						far = append(far, end)
						go io.Copy(io.Discard, end)
						return near, nil
					},
				}
				ours, theirs := net.Pipe()
				go io.Copy(io.Discard, ours)
				written := make(chan struct{})
				go func() {
					defer close(written)
					_, err := io.WriteString(ours, c.start)
					for c.drop != "" && err == nil {
						<-time.After(time.Second) // of the bubble's clock
						_, err = io.WriteString(ours, c.drop)
					}
				}()
				began := time.Now()
				proxy.ServeProxy(t.Context(), theirs)
				ours.Close()
				<-written
				for _, end := range far {
					end.Close()
				}
				if len(done) != 1 || done[0].Reason != c.why {
					t.Errorf("recorded %+v, want %d", done, c.why)
				}
				if took := time.Since(began); took > 2*idleTime {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

type fixedResolver struct{}

func (fixedResolver) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr(publicAddr)}, nil
}

// TestNotIdle: bytes in one direction keep both open.
func TestNotIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list, _ := ParseList([]string{"example.com:5432"})
		var done []Connection
		near, far := net.Pipe()
		proxy := &Proxy{
			List: list, Resolver: fixedResolver{}, Record: func(c Connection) { done = append(done, c) },
			local: func() ([]netip.Prefix, error) { return nil, nil },
			Dial:  func(context.Context, netip.AddrPort) (net.Conn, error) { return near, nil },
		}
		ours, theirs := net.Pipe()
		served := make(chan struct{})
		go func() { proxy.ServeDirect(t.Context(), theirs, Destination{"example.com", 5432}); close(served) }()
		for range 10 {
			_, _ = far.Write([]byte("x"))
			_, _ = io.ReadFull(ours, make([]byte, 1))
			<-time.After(idleTime * 2 / 3) // of the bubble's clock
		}
		far.Close()
		ours.Close()
		<-served
		if len(done) != 1 || done[0].Reason != 0 || done[0].Down != 10 || done[0].Lasted < 6*idleTime {
			t.Errorf("recorded %+v", done)
		}
	})
}

// TestHTTPClients: clients of the standard library get their answers.
func TestHTTPClients(t *testing.T) {
	t.Parallel()
	site, roots := secureSite(t)
	w := newWorld(t, "example.com")
	w.host("example.com", publicAddr, 443, site)
	w.host("example.com", publicAddr, 80, website(t))
	entrance := listen(t, func(conn *net.TCPConn) { w.proxy.ServeProxy(w.ctx, conn) })
	for _, scheme := range []string{"http", "socks5"} {
		transport := &http.Transport{
			Proxy:           func(*http.Request) (*url.URL, error) { return url.Parse(scheme + "://" + entrance) },
			TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true,
		}
		client := &http.Client{Transport: transport}
		for _, page := range []string{"https://example.com/a", "http://example.com/b"} {
			for range 3 {
				answer, err := client.Post(page, "text/plain", strings.NewReader("body"))
				if err != nil {
					t.Errorf("%s by %s: %v", page, scheme, err)
					continue
				}
				body, _ := io.ReadAll(answer.Body)
				answer.Body.Close()
				if !strings.Contains(string(body), `body "body"`) {
					t.Errorf("%s by %s: %s", page, scheme, body)
				}
			}
		}
		answer, err := client.Get("https://telemetry.example/")
		if err == nil {
			answer.Body.Close()
		}
		if err == nil || scheme == "http" && !strings.Contains(err.Error(), "isn't one of the destinations you listed") {
			t.Errorf("%s: %v", scheme, err)
		}
		transport.CloseIdleConnections()
	}
}
