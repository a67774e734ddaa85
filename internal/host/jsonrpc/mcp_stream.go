package jsonrpc

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// maxEvents is how many events of a stream are kept for a client that is slow or comes back,
	// and maxKept how many bytes of them. The oldest are dropped first.
	maxEvents = 1024
	maxKept   = MaxMessage + 1<<20
	// beatTime is the interval of keepalives on an idle stream.
	beatTime = 15 * time.Second
	// writeTime is how long a client may take to read a write.
	writeTime = 30 * time.Second
)

// A stream holds the messages of one HTTP response, kept for a while to let another response resume
// it. Adding to it never waits for the client.
type stream struct {
	id string // "" if it cannot be resumed

	mu     sync.Mutex
	events [][]byte // without dropped ones
	first  int      // the number of the first of them
	size   int
	sent   int // the number of the first unsent event
	done   bool
	more   chan struct{} // closed on every change
	reader int           // the number of the current response
	open   bool          // there is a response
	left   time.Time     // when the last response ended
}

func newStream(id string) *stream {
	return &stream{id: id, more: make(chan struct{}), left: time.Now()}
}

// changed wakes the waiting readers. The lock is held.
func (s *stream) changed() {
	close(s.more)
	s.more = make(chan struct{})
}

// add appends a message, and returns how many more bytes are kept.
func (s *stream) add(message []byte) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done {
		return 0
	}
	before := s.size
	s.events = append(s.events, message)
	for s.size += len(message); len(s.events) > 1 && (len(s.events) > maxEvents || s.size > maxKept); s.first++ {
		s.size -= len(s.events[0])
		s.events = s.events[1:]
	}
	s.changed()
	return s.size - before
}

// endStream marks the stream as complete.
func (s *stream) endStream() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
	s.changed()
}

// kept returns the number of bytes kept.
func (s *stream) kept() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

// over reports whether the stream has had no reader for longer than limit.
func (s *stream) over(now time.Time, limit time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.open && now.Sub(s.left) > limit
}

// finished reports whether the stream has its last message.
func (s *stream) finished() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done
}

// eventAt returns the event with a number, or the first one kept after it, and its number. If it
// does not exist yet, wait is closed when it may. It returns false if the stream has ended or
// another response reads it.
func (s *stream) eventAt(reader, number int) (message []byte, at int, wait <-chan struct{}, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at = max(number, s.first)
	switch {
	case s.reader != reader:
		return nil, 0, nil, false
	case at-s.first < len(s.events):
		s.sent = max(s.sent, at+1)
		return s.events[at-s.first], at, nil, true
	}
	return nil, at, s.more, !s.done
}

// takeOver makes a response the stream's reader. It begins with the event of this number; if
// negative, with the first unsent event.
func (s *stream) takeOver(number int) (reader, from int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reader++
	s.open = true
	s.changed()
	if number < 0 {
		number = s.sent
	}
	return s.reader, number
}

// leave records that a response has ended.
func (s *stream) leave(reader int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader == reader {
		s.open, s.left = false, time.Now()
	}
}

// writeTo writes the stream to a client, starting at an event, until the stream ends, the client is
// gone or stop is done. A primed client gets the id to come back with before anything else.
func (s *stream) writeTo(ctx, stop context.Context, w http.ResponseWriter, number int, primed bool) {
	reader, number := s.takeOver(number)
	defer s.leave(reader)
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", typeEvents)
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	say := func(e event) bool {
		_ = out.SetWriteDeadline(time.Now().Add(writeTime)) // without a deadline it only takes longer
		return writeEvent(w, e) == nil && out.Flush() == nil
	}
	if primed && s.id != "" {
		if !say(event{id: s.eventID(number)}) {
			return
		}
	} else if out.Flush() != nil {
		return
	}
	beat := time.NewTicker(beatTime)
	defer beat.Stop()
	for stopped := false; ; {
		message, at, wait, ok := s.eventAt(reader, number)
		switch {
		case !ok || message == nil && stopped:
			return
		case message != nil:
			number = at + 1
			if !say(event{id: s.eventID(number), data: message}) {
				return
			}
			continue
		}
		select {
		case <-wait:
		case <-beat.C:
			if _, err := w.Write([]byte(":\n\n")); err != nil || out.Flush() != nil {
				return
			}
		case <-ctx.Done():
			return
		case <-stop.Done():
			stopped = true
		}
	}
}

// eventID returns the id sent with the event before this number.
func (s *stream) eventID(number int) string {
	if s.id == "" {
		return ""
	}
	return fmt.Sprintf("%s-%d", s.id, number)
}

// readEventID parses the result of eventID.
func readEventID(text string) (id string, number int, ok bool) {
	id, digits, found := strings.Cut(text, "-")
	n, err := strconv.ParseUint(digits, 10, 31)
	return id, int(n), found && err == nil //nolint:gosec // it has 31 bits
}
