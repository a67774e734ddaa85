package egress

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"syscall"
	"time"
)

// maxInterim bounds the interim answers before the answer to a request.
const maxInterim = 8

// probeTime is how long a connection is tested for its end before another request uses it.
const probeTime = time.Millisecond

// serveHTTP serves requests with an absolute URI, and a tunnel as soon as one is asked for. A request for the same
// destination as the one before uses the same connection.
func (p *Proxy) serveHTTP(ctx context.Context, c *client) {
	var l *link
	defer func() {
		if l != nil {
			l.end()
		}
	}()
	for {
		c.within(c.hello)
		h, err := readHead(c.in)
		if err != nil {
			p.refuseHead(c, l, err)
			return
		}
		c.patiently()
		if h.method == http.MethodConnect && l == nil {
			p.serveConnect(ctx, c, h)
			return
		}
		d, _, good := h.absolute()
		if !good || h.method == http.MethodConnect {
			p.refuseHead(c, nil, errBadHead)
			return
		}
		if l != nil && (l.to != d || l.hasEnded()) {
			l.end()
			l = nil
		}
		if l == nil {
			var reason Reason
			if p.refusesSecret(c, d, h) {
				return
			}
			if l, reason = p.reach(ctx, c, d); reason != 0 {
				l = nil
				c.tellRefusal(d, reason)
				return
			}
		}
		if !l.exchange(c, h) || !c.another() {
			return
		}
	}
}

// another waits for the next request.
func (c *client) another() bool {
	_, err := c.in.Peek(1)
	return err == nil
}

// refuseHead answers a request whose head cannot be read. The link is nil if the request belongs to none. A client
// that ended the connection wanted nothing more: programs connect ahead, and end before they need the connection.
func (p *Proxy) refuseHead(c *client, l *link, err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		return
	}
	var d Destination
	if l != nil {
		d = l.to
		l.cut(reasonOf(err, BadRequest))
	} else {
		p.recordRefusal(c, d, reasonOf(err, BadDemand))
	}
	if errors.Is(err, errBadHead) {
		if l == nil {
			c.tellRefusal(d, BadDemand)
			return
		}
		c.tellRefusal(d, BadRequest)
	}
}

// serveConnect serves a request for a tunnel.
func (p *Proxy) serveConnect(ctx context.Context, c *client, h *head) {
	d, good := parseAuthority(h.target, 0)
	if !good || h.length != 0 || h.chunked {
		p.recordRefusal(c, Destination{}, BadDemand)
		c.tellRefusal(Destination{}, BadDemand)
		return
	}
	d = p.named(d)
	l, reason := p.reach(ctx, c, d)
	if reason != 0 {
		c.tellRefusal(d, reason)
		return
	}
	defer l.end()
	if _, err := io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n"); err == nil {
		p.tunnel(c, l)
	}
}

// serveRequests serves plain HTTP on a connection to one destination. It has no second meaning for the server: each
// request is read whole and written anew.
func (p *Proxy) serveRequests(c *client, l *link) {
	for {
		c.within(c.hello)
		h, err := readHead(c.in)
		if err != nil {
			p.refuseHead(c, l, err)
			return
		}
		c.patiently()
		if !l.exchange(c, h) || !c.another() {
			return
		}
	}
}

// exchange passes a request on and its answer back, and reports whether the connection can carry another request.
func (l *link) exchange(c *client, h *head) (again bool) {
	path, reason := h.within(l.to)
	if reason == 0 {
		reason = l.admitRequest(h, path)
	}
	if reason != 0 {
		l.cut(reason)
		c.tellRefusal(l.to, reason)
		return false
	}
	if h.awaits && (h.chunked || h.length > 0) {
		if _, err := io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return false
		}
	}
	sent := make(chan bool, 1)
	go func() { sent <- l.request(c, h, path) == nil }()
	answer, reason := l.response(h.method)
	if reason == 0 {
		reason = l.conceal(h, answer)
	}
	if reason != 0 {
		c.interrupt()
		l.hangUp()
		<-sent
		c.resume()
		l.cut(reason)
		c.tellRefusal(l.to, l.reason())
		return false
	}
	defer answer.Body.Close()
	again = l.relay(c, h, answer)
	select {
	case whole := <-sent:
		return again && whole
	case <-time.After(lingerTime): // the server answered without reading all
		c.interrupt()
		l.hangUp()
		<-sent
		c.resume()
		return false
	}
}

// request sends a request. An error ends the link, and with it the wait for an answer.
func (l *link) request(c *client, h *head, path string) error {
	_, err := l.Write(h.rewritten(l.to, path))
	switch {
	case err != nil:
	case h.chunked:
		err = l.sendChunks(c)
	case h.length > 0:
		_, err = io.CopyN(l, l.inspected(io.LimitReader(c.in, h.length)), h.length)
	}
	if err != nil {
		l.sleepOr(err)
		if failed := (*net.OpError)(nil); l.reason() != 0 || !errors.As(err, &failed) || failed.Op != "write" {
			l.hangUp() // otherwise a server that did not read all may have answered
		}
	}
	return err
}

// sendChunks sends a body of unknown length in new chunks. Trailers are refused, because some servers read them as
// fields of the head.
func (l *link) sendChunks(c *client) error {
	out := newChunks(l)
	if _, err := io.Copy(out, l.inspected(httputil.NewChunkedReader(c.in))); err != nil {
		l.sleepOr(err)
		l.cut(BadRequest)
		return err
	}
	end := make([]byte, 2)
	if _, err := io.ReadFull(c.in, end); err != nil {
		return err
	}
	if string(end) != "\r\n" {
		l.cut(BadRequest)
		return errBadHead
	}
	return out.end()
}

var errLongHead = errors.New("long-head")

// response reads the head of the answer to a request.
func (l *link) response(method string) (*http.Response, Reason) {
	l.headOnly, l.headLeft = true, maxHeadBytes
	defer func() { l.headOnly = false }()
	for range maxInterim {
		answer, err := http.ReadResponse(l.in, &http.Request{Method: method})
		if err != nil {
			l.sleepOr(err)
			return nil, BadResponse
		}
		if answer.StatusCode == http.StatusSwitchingProtocols {
			_ = answer.Body.Close() // it is empty
			return nil, BadResponse // the request did not offer it
		}
		if answer.StatusCode >= http.StatusOK {
			return answer, 0
		}
		_ = answer.Body.Close() // it is empty
	}
	return nil, BadResponse
}

// relay passes an answer back, and reports whether both connections can carry another request.
func (l *link) relay(c *client, h *head, answer *http.Response) (again bool) {
	length, chunked := answer.ContentLength, len(answer.TransferEncoding) > 0 && h.minor > 0
	again = !h.close && !answer.Close && (length >= 0 || chunked)
	for _, options := range answer.Header["Connection"] {
		for option := range strings.SplitSeq(options, ",") {
			answer.Header.Del(strings.Trim(option, " \t"))
		}
	}
	for name := range hops {
		if name != "content-length" {
			answer.Header.Del(name)
		}
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "HTTP/1.1 %s\r\n", answer.Status)
	_ = answer.Header.Write(&out) // a buffer takes all
	if chunked {
		out.WriteString("Transfer-Encoding: chunked\r\n")
	}
	if !again {
		out.WriteString("Connection: close\r\n")
	} else if h.minor == 0 {
		out.WriteString("Connection: keep-alive\r\n")
	}
	out.WriteString("\r\n")
	if _, err := c.Write(out.Bytes()); err != nil {
		return false
	}
	var err error
	if chunked && h.method != http.MethodHead {
		body := newChunks(c)
		if _, err = io.Copy(body, answer.Body); err == nil {
			err = body.end()
		}
	} else {
		_, err = io.Copy(c, answer.Body)
	}
	if err != nil {
		l.sleepOr(err)
	}
	return again && err == nil
}

// hasEnded reports whether the destination has closed the connection between requests, or sent something unasked.
func (l *link) hasEnded() bool {
	l.within(probeTime)
	defer l.patiently()
	_, err := l.in.Peek(1)
	return reasonOf(err, 0) != TooSlow
}

// chunks writes a body of unknown length, and each piece of it at once.
type chunks struct {
	to     *bufio.Writer
	pieces io.WriteCloser
}

func newChunks(to io.Writer) *chunks {
	buffered := bufio.NewWriterSize(to, copyBytes)
	return &chunks{buffered, httputil.NewChunkedWriter(buffered)}
}

// Write writes one chunk.
func (w *chunks) Write(b []byte) (int, error) {
	n, err := w.pieces.Write(b)
	if err != nil {
		return n, err
	}
	return n, w.to.Flush()
}

// end writes the end of the body.
func (w *chunks) end() error {
	err := w.pieces.Close()
	if err == nil {
		_, err = w.to.WriteString("\r\n")
	}
	if err != nil {
		return err
	}
	return w.to.Flush()
}
