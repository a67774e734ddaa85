package tool

import (
	"fmt"
	"sync"
	"time"
)

const (
	// streamEvery is how often a command's output is passed on while it runs.
	streamEvery = 100 * time.Millisecond
	// streamPiece bounds one piece: of more than that the end is passed on, and how much was
	// left out. The stored result does not depend on it.
	streamPiece = 8 << 10
)

// A stream passes the output of a command on while it runs: in pieces of valid UTF-8, in
// order, one at a time. A slow receiver does not hold up the command, but misses pieces. It
// is safe for concurrent use.
type stream struct {
	send func(text string)

	saying sync.Mutex // held while sending a piece

	mu      sync.Mutex
	pending []byte
	left    int  // bytes dropped before pending
	armed   bool // a timer runs
	closed  bool
}

// Write never fails.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(p) == 0 {
		return len(p), nil
	}
	s.pending = append(s.pending, p[max(0, len(p)-streamPiece):]...)
	s.left += max(0, len(p)-streamPiece)
	if over := len(s.pending) - streamPiece; over > 0 {
		s.pending, s.left = append(s.pending[:0], s.pending[over:]...), s.left+over
	}
	if !s.armed {
		s.armed = true
		time.AfterFunc(streamEvery, func() { s.flush(false) })
	}
	return len(p), nil
}

// flush sends the pending text. Unless last is true, it holds back an incomplete
// character.
func (s *stream) flush(last bool) {
	s.saying.Lock()
	defer s.saying.Unlock()
	if text := s.takePending(last); text != "" {
		s.send(text)
	}
}

func (s *stream) takePending(last bool) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed = false
	if s.closed {
		return ""
	}
	s.closed = last
	piece := s.pending
	if !last {
		piece = wholeRunes(piece)
	}
	text := cleanText(string(piece))
	if s.left > 0 {
		text = fmt.Sprintf("\n[... %d bytes left out ...]\n%s", s.left, text)
	}
	s.pending, s.left = append(s.pending[:0], s.pending[len(piece):]...), 0
	return text
}

// flushLast sends the rest. After it has returned, the stream sends nothing.
func (s *stream) flushLast() { s.flush(true) }
