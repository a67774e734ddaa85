package server

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"slices"
	"time"
)

// A rawStream is a stream of events on a connection taken over from net/http: a
// subscriber then costs one goroutine, without a request, buffers and a second goroutine.
type rawStream struct {
	conn net.Conn
	pace pace
	// codes means that phrases are sent as codes.
	codes bool
	rest  []byte // rest of a partial write
}

// takeOver takes over the connection of a request whose response header is still to be written.
func takeOver(w http.ResponseWriter, p pace, codes bool) (*rawStream, error) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &rawStream{conn: conn, pace: p, codes: codes, rest: headOf(w.Header())}, nil
}

// headOf encodes the response header, which net/http no longer does. The body lasts until
// the connection is closed.
func headOf(h http.Header) []byte {
	head := bytes.NewBufferString("HTTP/1.1 200 OK\r\nConnection: close\r\n")
	_ = h.Write(head) // to memory
	head.WriteString("\r\n")
	return head.Bytes()
}

// serveRaw sends a subscriber all events so far, and leaves the rest to a new goroutine,
// because the stack of this one has grown.
func (b *broker) serveRaw(ctx context.Context, s *subscriber, r *rawStream, leave func()) {
	err := r.write(nil, b.pace.stall)
	if err == nil {
		_, err = b.sendNew(ctx, s, r)
	}
	if err != nil {
		defer leave()
		b.endRaw(s, r, err)
		return
	}
	go func() {
		defer leave()
		b.endRaw(s, r, b.serve(context.Background(), s, r))
	}()
}

// endRaw closes the connection. It first tells the subscriber where to resume, if it should.
func (b *broker) endRaw(s *subscriber, r *rawStream, err error) {
	defer r.conn.Close()
	told, ok := errors.AsType[*failure](err)
	switch {
	case ok && told.resume:
		b.sayResume(r, s.seq, told.word)
	case errors.Is(err, errStalled):
		b.log.Info("a watcher has stopped reading", "after", s.seq)
		b.sayResume(r, s.seq, wordSlow)
	default:
		b.log.Debug("a watcher has gone", "after", s.seq, "why", err)
	}
}

// sayResume tells a subscriber where to resume. If it reads again within the farewell, it
// gets the rest of the last event first.
func (b *broker) sayResume(r *rawStream, seq int64, word string) {
	until := time.Now().Add(b.pace.farewell)
	err := r.write(resumeLines(seq, word), b.pace.goodbye)
	for errors.Is(err, errStalled) && time.Now().Before(until) && !b.isDraining() {
		err = r.write(nil, b.pace.goodbye)
	}
}

func (r *rawStream) send(frames []*frame) error {
	lines, err := joinLines(frames, r.codes)
	if err != nil {
		return err
	}
	return r.write(lines, r.pace.stall)
}

func (r *rawStream) beat() error { return r.write(beatLines, r.pace.stall) }

// write writes the rest of the last write and then lines. After errStalled, r.rest has
// the bytes still to be sent.
func (r *rawStream) write(lines []byte, stall time.Duration) error {
	if len(r.rest) > 0 {
		lines = slices.Concat(r.rest, lines)
	}
	r.rest = nil
	if len(lines) == 0 {
		return nil
	}
	if err := r.conn.SetWriteDeadline(time.Now().Add(stall)); err != nil {
		return err
	}
	n, err := r.conn.Write(lines)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		r.rest = lines[n:]
		return errStalled
	}
	return err
}
