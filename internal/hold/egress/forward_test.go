package egress

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// recorded is a server that passes on all bytes of each connection, after it has answered.
func recorded(t *testing.T, answer string) (address string, got chan string) {
	t.Helper()
	got = make(chan string, 10)
	return listen(t, func(conn *net.TCPConn) {
		_, _ = io.WriteString(conn, answer)
		all, _ := io.ReadAll(conn)
		got <- string(all)
	}), got
}

const emptyAnswer = "HTTP/1.1 204 No Content\r\n\r\n"

// TestRequests: a request leaves in one form, and without words between the client and the proxy.
func TestRequests(t *testing.T) {
	t.Parallel()
	server, got := recorded(t, emptyAnswer)
	w := newWorld(t, "example.com", "example.com:8080", "[2606:4700::1]:80")
	w.host("example.com", publicAddr, 80, server)
	w.host("example.com", publicAddr, 8080, server)
	w.host("", "2606:4700::1", 80, server)
	for sent, want := range map[string]string{
		"GET http://example.com HTTP/1.1\r\nHost: example.com\r\n\r\n": "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"GET HTTP://Example.COM:80?q=%2e HTTP/1.1\r\nhOST: EXAMPLE.com\r\nX-A:  b \r\n\r\n": "GET /?q=%2e HTTP/1.1\r\n" +
			"Host: example.com\r\nX-A:  b \r\n\r\n",
		"GET http://example.com:8080//a/../b HTTP/1.0\r\n\r\n": "GET //a/../b HTTP/1.1\r\nHost: example.com:8080\r\n\r\n",
		"GET http://[2606:4700:0::1]/ HTTP/1.1\r\nHost: [2606:4700::1]\r\n\r\n": "GET / HTTP/1.1\r\n" +
			"Host: [2606:4700::1]\r\n\r\n",
		"POST http://example.com/ HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: Basic c2VjcmV0\r\n" +
			"Proxy-Connection: keep-alive\r\nConnection: X-Hop, close\r\nX-Hop: 1\r\nTE: trailers\r\nKeep-Alive: 5\r\n" +
			"Upgrade: websocket\r\nHTTP2-Settings: x\r\nContent-Length: 3\r\nCookie: c\r\n\r\nabc": "POST / HTTP/1.1\r\n" +
			"Host: example.com\r\nCookie: c\r\nContent-Length: 3\r\n\r\nabc",
		"PUT http://example.com/ HTTP/1.1\r\nHost: example.com\r\nTransfer-Encoding: Chunked\r\n\r\n" +
			"2;ext=1\r\nab\r\n0\r\n\r\n": "PUT / HTTP/1.1\r\nHost: example.com\r\nTransfer-Encoding: chunked\r\n\r\n" +
			"2\r\nab\r\n0\r\n\r\n",
	} {
		conn := w.open(t)
		_, _ = io.WriteString(conn, sent)
		readUntil(t, conn, "\r\n\r\n")
		conn.Close()
		if all := <-got; all != want {
			t.Errorf("%q left as %q, want %q", sent, all, want)
		}
		if done := w.refuses(0); done.Up != int64(len(want)) || done.Down != int64(len(emptyAnswer)) {
			t.Errorf("%q: recorded %+v", sent, done)
		}
	}
}

// TestRequestsRefused: a request that names another host, or that programs may read in different ways, does not leave.
func TestRequestsRefused(t *testing.T) {
	t.Parallel()
	server, got := recorded(t, "")
	w := newWorld(t, "example.com", "example.com:8080")
	for _, port := range []int{80, 443, 8080} {
		w.host("example.com", publicAddr, port, server)
	}
	for rest, why := range map[string]Reason{
		"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n":                                                       OtherHost,
		"GET / HTTP/1.1\r\nHost: example.com:81\r\n\r\n":                                                     OtherHost,
		"GET / HTTP/1.1\r\nHost: example.com@evil.example\r\n\r\n":                                           OtherHost,
		"GET / HTTP/1.1\r\nHost: a.example.com\r\n\r\n":                                                      OtherHost,
		"GET / HTTP/1.1\r\nHost:\r\n\r\n":                                                                    OtherHost,
		"GET http://evil.example/ HTTP/1.1\r\nHost: HOST\r\n\r\n":                                            OtherHost,
		"GET http://HOST/ HTTP/1.1\r\nHost: evil.example\r\n\r\n":                                            OtherHost,
		"GET / HTTP/1.1\r\n\r\n":                                                                             BadRequest,
		"GET / HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n\r\n":                                                 BadRequest,
		"GET / HTTP/1.1\r\nHost: HOST\r\n Host: evil.example\r\n\r\n":                                        BadRequest,
		"GET / HTTP/1.1\r\nHost : HOST\r\n\r\n":                                                              BadRequest,
		"GET / HTTP/1.1\nHost: HOST\n\n":                                                                     BadRequest,
		"GET / HTTP/1.1\r\nHost: HOST\r\nX: a\rHost: evil.example\r\n\r\n":                                   BadRequest,
		"GET / HTTP/1.1\r\nHost: HOST\r\nX: a\x00b\r\n\r\n":                                                  BadRequest,
		"GET / HTTP/1.1\r\nHost: HOST\r\nno colon\r\n\r\n":                                                   BadRequest,
		"\r\nGET / HTTP/1.1\r\nHost: HOST\r\n\r\n":                                                           BadRequest,
		"GET  / HTTP/1.1\r\nHost: HOST\r\n\r\n":                                                              BadRequest,
		"GET / HTTP/2.0\r\nHost: HOST\r\n\r\n":                                                               BadRequest,
		"GET /a b HTTP/1.1\r\nHost: HOST\r\n\r\n":                                                            BadRequest,
		"GET /a\tb HTTP/1.1\r\nHost: HOST\r\n\r\n":                                                           BadRequest,
		"GET evil.example HTTP/1.1\r\nHost: HOST\r\n\r\n":                                                    BadRequest,
		"GET https://HOST/ HTTP/1.1\r\nHost: HOST\r\n\r\n":                                                   BadRequest,
		"GET /#a HTTP/1.1\r\nHost: HOST\r\n\r\n":                                                             BadRequest,
		"GET * HTTP/1.1\r\nHost: HOST\r\n\r\n":                                                               BadRequest,
		"CONNECT evil.example:443 HTTP/1.1\r\nHost: HOST\r\n\r\n":                                            BadRequest,
		"CONNECT HOST:443 HTTP/1.1\r\nHost: HOST\r\n\r\n":                                                    BadRequest,
		"POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n":                    BadRequest,
		"POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n":                    BadRequest,
		"POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1, 1\r\n\r\n":                                      BadRequest,
		"POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: +1\r\n\r\n":                                        BadRequest,
		"POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 0x1\r\n\r\n":                                       BadRequest,
		"POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: -1\r\n\r\n":                                        BadRequest,
		"POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 9223372036854775808\r\n\r\n":                       BadRequest,
		"POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n":           BadRequest,
		"POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n":  BadRequest,
		"POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n": BadRequest,
		"POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: gzip, chunked\r\n\r\n":                          BadRequest,
		"POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: xchunked\r\n\r\n":                               BadRequest,
		"POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding:\x0bchunked\r\n\r\n":                             BadRequest,
		"POST / HTTP/1.0\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n":                                BadRequest,
		"GET / HTTP/1.1\r\nHost: HOST\r\n" + strings.Repeat("A: b\r\n", maxHeadLines) + "\r\n":               BadRequest,
		"GET / HTTP/1.1\r\nHost: HOST\r\nA: " + strings.Repeat("b", maxHeadBytes) + "\r\n\r\n":               BadRequest,
	} {
		for _, port := range []uint16{80, 443, 8080} {
			conn, host := w.direct(t, "example.com", port), "example.com"
			if port != 80 {
				host = fmt.Sprintf("example.com:%d", port)
			}
			answer := say(conn, strings.ReplaceAll(rest, "HOST", host))
			if status := fmt.Sprintf("HTTP/1.1 %d ", why.status()); !strings.HasPrefix(answer, status) {
				t.Errorf("%d %.80q: answered %q", port, rest, answer)
			}
			conn.Close()
			if done := w.refuses(why); done.Up > 0 {
				t.Errorf("%d %.80q: %d bytes left", port, rest, done.Up)
			}
			if all := <-got; all != "" {
				t.Errorf("%d %.80q: %q left", port, rest, all)
			}
		}
	}
}

// TestSmuggling: bytes after a request are a request of their own, and its host counts.
func TestSmuggling(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "example.com")
	w.host("example.com", publicAddr, 80, website(t))
	const first = "POST / HTTP/1.1\r\nHost: example.com\r\nContent-Length: 3\r\n\r\nabc"
	for second, want := range map[string][2]string{
		"GET /2 HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n": {"GET example.com /2", ""},
		"GET /2 HTTP/1.1\r\nHost: evil.example\r\n\r\n":                     {"403 a request to example.com names another", ""},
		"X GET /2 HTTP/1.1\r\nHost: example.com\r\n\r\n":                    {"400 a request to example.com has more than", ""},
		"POST /2 HTTP/1.1\r\nHost: example.com\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nHost: evil.example\r\n\r\n": {
			"400 a request to example.com has more", "/2"},
		"POST /2 HTTP/1.1\r\nHost: example.com\r\nTransfer-Encoding: chunked\r\n\r\n1\nx\n0\n\n":          {"400 a request", "/2"},
		"POST /2 HTTP/1.1\r\nHost: example.com\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nx\r\n0\r\n\r\n": {"400 a request", "/2"},
	} {
		got := say(w.direct(t, "example.com", 80), first+second)
		if !strings.Contains(got, `POST example.com / `) || !strings.Contains(got, want[0]) ||
			want[1] != "" && strings.Contains(got, want[1]) {
			t.Errorf("%q: %q", second, got)
		}
		w.record()
	}
}

// TestRequestsInTurn: a client connection to the proxy serves one destination after another, and an unlisted one ends
// it.
func TestRequestsInTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.example", "b.example")
	w.host("a.example", publicAddr, 80, website(t))
	w.host("b.example", "93.184.215.15", 80, website(t))
	conn := w.open(t)
	in := bufio.NewReader(conn)
	for _, host := range []string{"a", "a", "b", "a"} {
		fmt.Fprintf(conn, "GET http://%s.example/x HTTP/1.1\r\nHost: %[1]s.example\r\n\r\n", host)
		answer, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if !strings.HasPrefix(string(body), "GET "+host+".example /x") {
			t.Errorf("%s: %s", host, body)
		}
	}
	fmt.Fprintf(conn, "GET http://c.example/x HTTP/1.1\r\nHost: c.example\r\n\r\n")
	if got, _ := io.ReadAll(in); !strings.HasPrefix(string(got), "HTTP/1.1 403 c.example isn't") {
		t.Errorf("%q", got)
	}
	for _, want := range []string{"a", "b", "a", "c"} {
		if done := w.record(); done.Destination.Host != want+".example" {
			t.Errorf("recorded %+v, want %s", done, want)
		}
	}
}

// TestAnswers: answers come back with their framing, and one that is not asked for does not.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: X-A\r\nX-A: b\r\nUpgrade: h2c\r\n\r\nab": "HTTP/1.1 200 OK\r\n" +
			"Content-Length: 2\r\n\r\nab",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: y\r\n\r\n": "HTTP/1.1 200 OK\r\n" +
			"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
		"HTTP/1.0 200 OK\r\n\r\nuntil the end": "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\n\r\nHTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n": "" +
			"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n": "HTTP/1.1 502 an answer of example.com could",
		"SSH-2.0-x\r\n": "HTTP/1.1 502 an answer of example.com could",
		"":              "HTTP/1.1 502 an answer of example.com could",
		strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 9):               "HTTP/1.1 502 ",
		"HTTP/1.1 200 OK\r\nA: " + strings.Repeat("b", 2*maxHeadBytes):   "HTTP/1.1 502 ",
		"HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", maxHeadBytes): "HTTP/1.1 502 ",
	} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "example.com")
			w.host("example.com", publicAddr, 80, listen(t, func(conn *net.TCPConn) {
				readUntil(t, conn, "\r\n\r\n")
				_, _ = io.WriteString(conn, answer)
				_ = conn.CloseWrite()
				_, _ = io.Copy(io.Discard, conn)
			}))
			conn := w.open(t)
			_, _ = io.WriteString(conn, "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n")
			_ = conn.CloseWrite()
			if got, _ := io.ReadAll(conn); !strings.HasPrefix(string(got), want) {
				t.Errorf("%.99q came as %.99q, want %q", answer, got, want)
			}
		})
	}
}

// TestStreams: pieces of an answer arrive as they are sent, and the word to go on comes from the proxy.
func TestStreams(t *testing.T) {
	t.Parallel()
	next, goOn := io.Pipe()
	w := newWorld(t, "example.com")
	w.host("example.com", publicAddr, 80, listen(t, func(conn *net.TCPConn) {
		if head := readUntil(t, conn, "\r\n\r\n"); strings.Contains(head, "Expect") {
			t.Errorf("%q", head)
		}
		readUntil(t, conn, "body")
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		_, _ = io.WriteString(conn, "3\r\none\r\n")
		readUntil(t, next, "!") // the client has the first piece
		_, _ = io.WriteString(conn, "0\r\n\r\n")
	}))
	conn := w.open(t)
	_, _ = io.WriteString(conn, "POST http://example.com/ HTTP/1.1\r\nHost: example.com\r\nExpect: 100-continue\r\n"+
		"Content-Length: 4\r\n\r\n")
	if got := readUntil(t, conn, "\r\n\r\n"); got != "HTTP/1.1 100 Continue\r\n\r\n" {
		t.Fatalf("%q", got)
	}
	_, _ = io.WriteString(conn, "body")
	readUntil(t, conn, "3\r\none\r\n")
	_, _ = io.WriteString(goOn, "!")
	readUntil(t, conn, "0\r\n\r\n")
	conn.Close()
}

// TestEarlyAnswer: a server that answers before it has read the body ends the exchange.
func TestEarlyAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "example.com")
	w.host("example.com", publicAddr, 80, listen(t, func(conn *net.TCPConn) {
		readUntil(t, conn, "\r\n\r\n")
		_, _ = io.WriteString(conn, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn)
	}))
	conn := w.open(t)
	got := say(conn, "POST http://example.com/ HTTP/1.1\r\nHost: example.com\r\nContent-Length: 9\r\n\r\nabc")
	if !strings.HasPrefix(got, "HTTP/1.1 413 ") {
		t.Errorf("%q", got)
	}
	w.record()
}

// TestRequestQuota: heads and bodies of requests count.
func TestRequestQuota(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "example.com")
	w.proxy.List.entries[0].Quota = 200
	w.host("example.com", publicAddr, 80, website(t))
	const head = "POST http://example.com/ HTTP/1.1\r\nHost: example.com\r\n"
	if got := say(w.open(t), head+"Content-Length: 300\r\n\r\n"+strings.Repeat("x", 300)); !strings.HasPrefix(got,
		"HTTP/1.1 403 the command has sent as much to example.com as it may") {
		t.Errorf("%q", got)
	}
	w.refuses(OverQuota)
	if got := say(w.open(t), head+"\r\n"); !strings.HasPrefix(got, "HTTP/1.1 403 ") {
		t.Errorf("%q", got)
	}
	w.refuses(OverQuota)
}
