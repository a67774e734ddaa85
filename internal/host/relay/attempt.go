package relay

import (
	"bytes"
	"io"
	"time"

	"github.com/umpirehq/umpire/internal/hold/process"
)

// Patience is the longest time for an [Attempt] of a hook, and how long the hook waits before it
// listens for signals. Listening starts threads, which takes a fifth of the time that most
// questions need. An earlier signal ends the process, as it does before main.
const Patience = 20 * time.Millisecond

// maxEarly is the largest question of an [Attempt]: a socket takes as much in one write.
const maxEarly = 64 << 10

// An Attempt asks the gate as cheaply as possible: on one thread, by system calls and without
// timers. It answers the ordinary case, which is nearly every question. In any other case it
// reports no error: it leaves the connection, and the data it has read and sent, to a [Line] and to
// package host, which check everything again and deny with a reason.
type Attempt struct {
	// Args are the program's arguments, Getenv its environment, and Dir its working directory.
	Args   []string
	Getenv func(string) string
	Dir    string
	// Stdin is the descriptor of the payload; zero is standard input.
	Stdin int
	// Patience is the longest time for the attempt.
	Patience time.Duration
	// Runner returns the id of the process that started this one.
	Runner func() string
	// Nonce is unique to the question.
	Nonce string
	// Profile records the phases; it may be nil.
	Profile *process.Profile

	progress
}

// Looked reports whether the attempt looked for the gate at its usual socket.
func (a *Attempt) Looked() bool { return a.connected || a.absent != nil }

// Line returns the line to the gate that was reached, or nil. Its error matches [ErrAbsent] if the
// attempt found none. If the question was sent already, the line does not send it again.
func (a *Attempt) Line() (*Line, error) {
	if !a.connected {
		return nil, a.absent
	}
	file, err := openFile(a.fd, Socket(a.home))
	if err != nil {
		return nil, err
	}
	if !a.sent {
		return newUsualLine(a.home, a.token, file), nil
	}
	return newUsualLine(a.home, a.token, &askedConn{file, a.unsent, a.answer}), nil
}

// Payload returns standard input from its beginning; rest is the unread part.
func (a *Attempt) Payload(rest io.Reader) io.Reader {
	if a.ended {
		return bytes.NewReader(a.payload)
	}
	return io.MultiReader(bytes.NewReader(a.payload), rest)
}

// progress is the state of an attempt.
type progress struct {
	connected bool
	absent    error // matches ErrAbsent if no gate answers there
	fd        int   // the connection, a blocking socket
	home      string
	token     string
	payload   []byte
	ended     bool   // the payload was read to its end
	sent      bool   // sending the question has begun
	unsent    error  // why it was not sent completely
	answer    []byte // the part that was read
}

// An askedConn is a connection on which the question was already sent and a part of the answer was
// read. Writing the question again does nothing, and reading begins with that part.
type askedConn struct {
	io.ReadWriteCloser

	unsent error
	answer []byte
}

func (c *askedConn) Write(question []byte) (int, error) {
	if c.unsent != nil {
		return 0, c.unsent
	}
	return len(question), nil
}

func (c *askedConn) Read(p []byte) (int, error) {
	if len(c.answer) == 0 {
		return c.ReadWriteCloser.Read(p)
	}
	n := copy(p, c.answer)
	c.answer = c.answer[n:]
	return n, nil
}
