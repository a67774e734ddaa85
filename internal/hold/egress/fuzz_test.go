package egress

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// FuzzSocks: a demand that is read names a destination in its normal form.
func FuzzSocks(f *testing.F) {
	f.Add([]byte("\x05\x01\x00\x05\x01\x00\x03\x0bexample.com\x01\xbb"))
	f.Add([]byte("\x05\x02\x02\x00\x05\x01\x00\x01\x01\x01\x01\x01\x00\x50"))
	f.Add([]byte("\x05\x01\x00\x05\x01\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x0a\x00\x00\x01\x00\x50"))
	f.Add([]byte("\x05\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, code, err := readSocks(bufio.NewReader(bytes.NewReader(data)), io.Discard)
		if err != nil || code != socksDone {
			if d != (Destination{}) {
				t.Errorf("refused with %v", d)
			}
			return
		}
		if host, good := normalHost(d.Host); !good || host != d.Host || d.Port == 0 {
			t.Errorf("%+v is not normal", d)
		}
	})
}

// FuzzFront: nothing that a command sends makes the proxy resolve or reach an unlisted destination, and the listed
// server sees no other host.
func FuzzFront(f *testing.F) {
	for _, seed := range []string{
		"CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n" + string(helloOf("example.com")),
		"CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n" + string(helloOf("evil.example")),
		"CONNECT evil.example:443 HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"GET http://example.com/a HTTP/1.1\r\nHost: example.com\r\n\r\nGET http://evil.example/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST http://example.com/ HTTP/1.1\r\nHost: example.com\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
		"POST http://example.com/ HTTP/1.1\r\nHost: example.com\r\nContent-Length: 5\r\n\r\nhello",
		"CONNECT example.com:80 HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
		"\x05\x01\x00\x05\x01\x00\x03\x0bexample.com\x00\x50GET / HTTP/1.0\r\n\r\n",
		"\x05\x01\x00\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50",
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	list, err := ParseList([]string{"example.com"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte, speaks bool) {
		var mu sync.Mutex
		var sent bytes.Buffer
		proxy := &Proxy{
			List: list, Resolver: onlyExample{t}, times: &times{20 * time.Millisecond, 40 * time.Millisecond},
			local: func() ([]netip.Prefix, error) { return nil, nil },
			Dial: func(_ context.Context, to netip.AddrPort) (net.Conn, error) {
				if to.Addr().String() != publicAddr || to.Port() != 80 && to.Port() != 443 {
					t.Errorf("connects to %s", to)
				}
				near, far := net.Pipe()
				go func() {
					defer far.Close()
					buffer := make([]byte, 4096)
					for {
						n, err := far.Read(buffer)
						mu.Lock()
						sent.Write(buffer[:n])
						mu.Unlock()
						if err != nil {
							return
						}
						if speaks {
							_, _ = io.WriteString(far, emptyAnswer)
							speaks = false
						}
					}
				}()
				return near, nil
			},
		}
		ours, theirs := net.Pipe()
		var all sync.WaitGroup
		all.Go(func() { _, _ = ours.Write(data); _, _ = io.Copy(io.Discard, ours) })
		all.Go(func() { proxy.ServeProxy(t.Context(), theirs); ours.Close() })
		all.Wait()
		mu.Lock()
		defer mu.Unlock()
		checkSent(t, sent.Bytes())
	})
}

// checkSent: the server got nothing, TLS for its name, or requests that net/http reads as requests for its host.
func checkSent(t *testing.T, sent []byte) {
	t.Helper()
	if len(sent) == 0 {
		return
	}
	if sent[0] == recordHandshake {
		if !bytes.Contains(bytes.ToLower(joinRecords(sent)), []byte("example.com")) {
			t.Errorf("sent %q", sent)
		}
		return
	}
	in := bufio.NewReader(bytes.NewReader(sent))
	for {
		request, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if request.Host != "example.com" && request.Host != "example.com:443" || request.Method == http.MethodConnect {
			t.Errorf("sent %q", sent)
		}
		if _, err := io.Copy(io.Discard, request.Body); err != nil {
			return
		}
	}
}

type onlyExample struct{ t *testing.T }

func (r onlyExample) LookupNetIP(_ context.Context, network, name string) ([]netip.Addr, error) {
	if name != "example.com." || network != "ip" {
		r.t.Errorf("resolves %q", name)
		return nil, errors.New("no such host")
	}
	return []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr(publicAddr)}, nil
}
