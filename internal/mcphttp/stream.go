package mcphttp

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/umpirehq/umpire/internal/jsonrpc"
)

const (
	// maxEvents is how many events of a stream are kept for a client that is slow or comes back,
	// and maxKept how many bytes of them. The oldest are dropped first.
	maxEvents = 1024
	maxKept   = jsonrpc.MaxMessage + 1<<20
	// beatTime is between two signs of life on a stream that has nothing to say.
	beatTime = 15 * time.Second
	// writeTime is how long a client may take to read a write.
	writeTime = 30 * time.Second
)

// A stream holds the messages of one HTTP response, kept for a while to let another response resume
// it. Adding to it never waits for the client.
type stream struct {
	id string // "" if it cannot be resumed

	mu     sync.Mutex
	events [][]byte // without those that were dropped
	first  int      // the number of the first of them
	size   int
	sent   int // the number of the first event that was not written to a client
	done   bool
	more   chan struct{} // closed when something changes
	reader int           // the number of the response that it is written to
	open   bool          // there is one
	left   time.Time     // when there was one last
}

func newStream(id string) *stream {
	return &stream{id: id, more: make(chan struct{}), left: time.Now()}
}

// changed wakes the waiting readers. The lock is held.
func (s *stream) changed() {
	close(s.more)
	s.more = make(chan struct{})
}

// add puts a message at the end, and returns how many bytes more are kept.
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

// endStream says that nothing more is added.
func (s *stream) endStream() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
	s.changed()
}

// kept is how many bytes are kept.
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

// eventAt returns the event with a number, or the first that is still kept after it, and its
// number. There may be none yet; then wait is closed when there may be one. It reports false
// when the stream is at its end, or is read by another response.
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

// takeOver makes a response the one that the stream is written to. Its first event is the one
// with this number; below 0 it is the first that was not sent.
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

// leave says that a response has ended.
func (s *stream) leave(reader int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader == reader {
		s.open, s.left = false, time.Now()
	}
}

// writeTo writes the stream to a client, from an event on, until it has ended, the client is gone
// or stop is done. A primed client is given the id to come back with before anything happens.
func (s *stream) writeTo(ctx, stop context.Context, w http.ResponseWriter, number int, primed bool) {
	reader, number := s.takeOver(number)
	defer s.leave(reader)
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", typeEvents)
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	say := func(e event) bool {
		_ = out.SetWriteDeadline(time.Now().Add(writeTime)) // without one it only takes longer
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

// eventID is the id that is sent with the event before the one with this number.
func (s *stream) eventID(number int) string {
	if s.id == "" {
		return ""
	}
	return fmt.Sprintf("%s-%d", s.id, number)
}

// readEventID reads what eventID wrote.
func readEventID(text string) (id string, number int, ok bool) {
	id, digits, found := strings.Cut(text, "-")
	n, err := strconv.ParseUint(digits, 10, 31)
	return id, int(n), found && err == nil //nolint:gosec // it has 31 bits
}
