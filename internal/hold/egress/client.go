package egress

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// A client is a connection of the command. One goroutine reads it at a time, and one writes it.
type client struct {
	side

	in    *bufio.Reader // reads the connection
	began time.Time
	hello time.Duration // the limit for a first request
}

func newClient(conn net.Conn, limits times) *client {
	c := &client{side: side{Conn: conn, idle: limits.idle}, hello: limits.hello, began: time.Now()}
	c.in = bufio.NewReader(&c.side)
	return c
}

// reset closes the connection in a way that programs report as a failure, and not as the end of an answer.
func (c *client) reset() {
	if tcp, is := c.Conn.(interface{ SetLinger(seconds int) error }); is {
		_ = tcp.SetLinger(0) // without it the connection is closed all the same
	}
	c.hangUp()
}

// tellRefusal tells an HTTP client of a refusal, in the status line too: many programs show only that. It ends the
// connection.
func (c *client) tellRefusal(d Destination, why Reason) {
	text := why.Say(d).String()
	_, err := fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n"+
		"Connection: close\r\n\r\n%s\n", why.status(), text, len(text)+1, text)
	if err == nil {
		c.linger()
	}
}

// linger lets the client read the last words: closing with unread bytes would reset the connection and drop them.
func (c *client) linger() {
	if c.endWrites() != nil {
		return
	}
	c.within(lingerTime)
	_, _ = io.CopyN(io.Discard, c.in, lingerBytes) // ends with the client, the time or the bytes
}

// reasonOf returns TooSlow for a passed deadline, and otherwise the given reason.
func reasonOf(err error, otherwise Reason) Reason {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return TooSlow
	}
	return otherwise
}
