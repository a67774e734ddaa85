package egress

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"
	"time"
)

// copyBytes is the buffer for bytes that are sent.
const copyBytes = 32 << 10

// stretch bounds one call that copies received bytes; its deadline ends it first.
const stretch = 1 << 40

// tunnel joins the two ends, and holds TLS and HTTP to the destination. On the ports of the web the client speaks
// first. On other ports either may, and a server's first word ends the guessing.
func (p *Proxy) tunnel(c *client, l *link) {
	defer func() {
		if l.reason() != 0 {
			c.reset()
		}
	}()
	var heard chan struct{}
	if !l.to.web() {
		if heard = awaitWords(c, l); heard != nil {
			l.join(c, func() error { <-heard; return l.upload(c) }, func() error { return l.download(c) })
			return
		}
	}
	c.within(c.hello)
	switch first, err := c.first(); {
	case err != nil && !l.to.web():
		c.patiently()
		l.join(c, func() error { return l.upload(c) }, func() error { return l.download(c) })
	case err != nil:
		l.cut(reasonOf(err, 0))
	case first == speaksTLS && l.entry.seals(l.to):
		p.unseal(c, l)
	case first == speaksTLS:
		l.tls(c)
	case first == speaksHTTP && !l.entry.seals(l.to):
		p.serveRequests(c, l)
	case l.to.web():
		l.cut(NotWeb)
	default:
		c.patiently()
		l.join(c, func() error { return l.upload(c) }, func() error { return l.download(c) })
	}
}

// awaitWords waits for the first byte of either side. If the server is first, it returns a channel that is ready when
// the client has followed; until then c may not be read.
func awaitWords(c *client, l *link) (heard chan struct{}) {
	c.patiently()
	peek := func(in *bufio.Reader) chan struct{} {
		done := make(chan struct{})
		go func() {
			_, _ = in.Peek(1) // the next read returns an error again
			close(done)
		}()
		return done
	}
	heard, spoke := peek(c.in), peek(l.in)
	select {
	case <-spoke:
		return heard
	case <-heard:
		l.interrupt()
		<-spoke
		l.resume()
		return nil
	}
}

// A speech is the protocol that first bytes belong to.
type speech int

const (
	speaksOther speech = iota
	speaksTLS
	speaksHTTP
)

// methods begin a request of HTTP.
var methods = []string{
	"GET ", "HEAD ", "POST ", "PUT ", "DELETE ", "OPTIONS ", "PATCH ", "TRACE ", "CONNECT ", "PROPFIND ", "PROPPATCH ",
	"MKCOL ", "COPY ", "MOVE ", "LOCK ", "UNLOCK ", "REPORT ", "SEARCH ", "MERGE ", "PURGE ", "QUERY ",
}

// first returns the protocol of the client's first bytes. It waits for no more of them than it takes to tell.
func (c *client) first() (speech, error) {
	for n := 1; ; n++ {
		start, err := c.in.Peek(n)
		if err != nil {
			return speaksOther, err
		}
		switch start[0] {
		case recordHandshake:
			return speaksTLS, nil
		case '\r', '\n':
			return speaksHTTP, nil // some servers skip empty lines before a request
		}
		open := false
		for _, method := range methods {
			if string(start) == method {
				return speaksHTTP, nil
			}
			open = open || strings.HasPrefix(method, string(start))
		}
		if !open {
			return speaksOther, nil
		}
	}
}

// accessDenied is a fatal alert of TLS, which programs show.
var accessDenied = []byte{recordAlert, versionMajor, 3, 0, 2, 2, 49}

// greet reads the hello of TLS, or refuses it and returns nil.
func (l *link) greet(c *client) []byte {
	raw, reason := readHello(c.in, l.to)
	if reason != 0 {
		l.cut(reason)
		if _, err := c.Write(accessDenied); err == nil {
			c.linger()
		}
		return nil
	}
	c.patiently()
	return raw
}

// tls passes TLS on after its hello.
func (l *link) tls(c *client) {
	raw := l.greet(c)
	if raw == nil {
		return
	}
	if _, err := l.Write(raw); err != nil {
		return
	}
	again := make(chan bool, 1)
	l.join(c, func() error {
		if <-again {
			if reason := passSecondHello(c.in, l); reason != 0 {
				l.cut(reason)
				return errCut
			}
		}
		return l.upload(c)
	}, func() error {
		asks, reason := asksAgain(l.in)
		again <- asks
		if reason != 0 {
			l.cut(reason)
			return errCut
		}
		return l.download(c)
	})
}

var errCut = errors.New("cut")

// join runs both directions. Each closes its receiving half when it is done; an error closes both connections.
func (l *link) join(c *client, up, down func() error) {
	both := func(direction func() error) {
		if direction() != nil {
			c.reset()
			l.hangUp()
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		both(up)
	}()
	both(down)
	<-done
}

// upload copies from the client to the destination until the client ends.
func (l *link) upload(c *client) error {
	buffer := make([]byte, copyBytes)
	for {
		n, err := c.in.Read(buffer)
		if n > 0 {
			if _, err := l.Write(buffer[:n]); err != nil {
				l.sleepOr(err)
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return l.endWrites()
		case errors.Is(err, os.ErrDeadlineExceeded) && !l.asleep():
		case err != nil:
			l.sleepOr(err)
			return err
		}
	}
}

// download copies from the destination to the client until the destination ends. It copies in long stretches, which
// Linux does without the process; between them it learns that bytes moved.
func (l *link) download(c *client) error {
	if n := l.in.Buffered(); n > 0 {
		read, _ := l.in.Peek(n) // they are there
		if _, err := c.Write(read); err != nil {
			return err
		}
		_, _ = l.in.Discard(n) // as above
	}
	for {
		began := time.Now()
		err := errors.Join(l.SetReadDeadline(began.Add(l.idle/2)), c.SetWriteDeadline(began.Add(l.idle)))
		if err != nil {
			return err
		}
		n, err := io.CopyN(c.Conn, l.Conn, stretch)
		l.received(n)
		switch {
		case errors.Is(err, io.EOF):
			return c.endWrites()
		case errors.Is(err, os.ErrDeadlineExceeded) && time.Since(began) < l.idle && !l.asleep():
		case err != nil:
			l.sleepOr(err)
			return err
		}
	}
}

// sleepOr notes that a passed deadline ends the link.
func (l *link) sleepOr(err error) {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		l.cut(Idle)
	}
}
