package egress

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
)

const million = 1_000_000

// BenchmarkMillion receives a million bytes on an open connection, directly and through the proxy.
func BenchmarkMillion(b *testing.B) {
	block := make([]byte, million)
	server := listen(b, func(conn *net.TCPConn) {
		one := make([]byte, 1)
		for {
			if _, err := io.ReadFull(conn, one); err != nil {
				return
			}
			_, _ = conn.Write(block)
		}
	})
	receive := func(b *testing.B, conn net.Conn) {
		b.SetBytes(million)
		for b.Loop() {
			_, _ = conn.Write([]byte("x"))
			if _, err := io.CopyN(io.Discard, conn, million); err != nil {
				b.Fatal(err)
			}
		}
		conn.Close()
	}
	b.Run("direct", func(b *testing.B) {
		conn, err := net.Dial("tcp", server)
		if err != nil {
			b.Fatal(err)
		}
		receive(b, conn)
	})
	b.Run("proxy", func(b *testing.B) {
		w := newWorld(b, "example.com:5432")
		w.host("example.com", publicAddr, 5432, server)
		receive(b, w.direct(b, "example.com", 5432))
	})
}

// BenchmarkFetch fetches a million bytes over TLS, directly and from a host whose requests the proxy reads.
func BenchmarkFetch(b *testing.B) {
	block := make([]byte, million)
	site := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(million)) // as registries do
		_, _ = w.Write(block)
	}))
	b.Cleanup(site.Close)
	trusted := x509.NewCertPool()
	trusted.AddCert(site.Certificate())
	fetch := func(b *testing.B, conn net.Conn, trusted *x509.CertPool) {
		b.SetBytes(million)
		secured := tls.Client(conn, &tls.Config{ServerName: "example.com", RootCAs: trusted})
		in := bufio.NewReader(secured)
		for b.Loop() {
			_, _ = io.WriteString(secured, "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n")
			answer, err := http.ReadResponse(in, nil)
			if err != nil {
				b.Fatal(err)
			}
			n, err := io.Copy(io.Discard, answer.Body)
			if err := errors.Join(err, answer.Body.Close()); n != million || err != nil {
				b.Fatal(n, err)
			}
		}
		conn.Close()
	}
	b.Run("direct", func(b *testing.B) {
		conn, err := net.Dial("tcp", site.Listener.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		fetch(b, conn, trusted)
	})
	b.Run("proxy", func(b *testing.B) {
		w := newWorld(b)
		w.proxy.List = List{[]Entry{{
			Text: "pages", Group: "pages", Quota: 1 << 30, host: "example.com", port: portHTTPS,
		}}}
		w.proxy.roots = trusted
		w.host("example.com", publicAddr, portHTTPS, site.Listener.Addr().String())
		text, err := w.proxy.Authorities()
		if err != nil {
			b.Fatal(err)
		}
		own := x509.NewCertPool()
		own.AppendCertsFromPEM(text)
		fetch(b, w.direct(b, "example.com", portHTTPS), own)
	})
}

// BenchmarkConnection connects, sends a byte and gets it back, directly and in each way through the proxy.
func BenchmarkConnection(b *testing.B) {
	server := echo(b, "")
	ping := func(b *testing.B, conn net.Conn) {
		b.Helper()
		_, _ = io.WriteString(conn, "x")
		if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
			b.Fatal(err)
		}
		conn.Close()
	}
	b.Run("direct", func(b *testing.B) {
		for b.Loop() {
			conn, err := net.Dial("tcp", server)
			if err != nil {
				b.Fatal(err)
			}
			ping(b, conn)
		}
	})
	for _, name := range []string{"invented address", "CONNECT", "SOCKS5"} {
		b.Run(name, func(b *testing.B) {
			w := newWorld(b, "example.com:5432")
			w.host("example.com", publicAddr, 5432, server)
			w.proxy.local = nil // as a user has it
			w.proxy.Record = nil
			entrance := listen(b, func(conn *net.TCPConn) {
				if name == "invented address" {
					w.proxy.ServeDirect(w.ctx, conn, Destination{"example.com", 5432})
					return
				}
				w.proxy.ServeProxy(w.ctx, conn)
			})
			for b.Loop() {
				conn, err := net.Dial("tcp", entrance)
				if err != nil {
					b.Fatal(err)
				}
				switch name {
				case "CONNECT":
					fmt.Fprintf(conn, "CONNECT example.com:5432 HTTP/1.1\r\nHost: x\r\n\r\n")
					readUntil(b, conn, "\r\n\r\n")
				case "SOCKS5":
					_, _ = io.WriteString(conn, "\x05\x01\x00\x05\x01\x00\x03\x0bexample.com\x15\x38")
					_, _ = io.ReadFull(conn, make([]byte, 12))
				}
				ping(b, conn)
			}
		})
	}
}
