package egress

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// A side is a connection on which nothing waits forever.
type side struct {
	net.Conn

	idle    time.Duration // the limit of a read and of a write
	fixed   bool          // the deadline for reading holds for several reads
	stopped atomic.Bool   // reads fail
}

// within bounds all reads until patiently is called.
func (s *side) within(limit time.Duration) {
	s.fixed = true
	_ = s.SetReadDeadline(time.Now().Add(limit)) // a connection without deadlines fails at another read
}

// patiently bounds each read by the idle time.
func (s *side) patiently() { s.fixed = false }

// interrupt ends a read of another goroutine, and makes further ones fail until resume.
func (s *side) interrupt() {
	s.stopped.Store(true)
	_ = s.SetReadDeadline(time.Unix(1, 0)) // as in within
}

// hangUp closes the connection. Its error says nothing about the bytes that were passed on.
func (s *side) hangUp() { _ = s.Conn.Close() }

// resume undoes interrupt. No goroutine may be reading.
func (s *side) resume() { s.stopped.Store(false) }

// Read waits for the idle time.
func (s *side) Read(b []byte) (int, error) {
	if !s.fixed {
		if err := s.SetReadDeadline(time.Now().Add(s.idle)); err != nil {
			return 0, err
		}
	}
	if s.stopped.Load() { // after the deadline, which would otherwise undo that of interrupt
		return 0, os.ErrDeadlineExceeded
	}
	return s.Conn.Read(b)
}

// Write fails if the other end does not read for the idle time.
func (s *side) Write(b []byte) (int, error) {
	if err := s.SetWriteDeadline(time.Now().Add(s.idle)); err != nil {
		return 0, err
	}
	return s.Conn.Write(b)
}

var errNoHalf = errors.New("no-halves")

// endWrites tells the other end that nothing more will come.
func (s *side) endWrites() error {
	if half, has := s.Conn.(interface{ CloseWrite() error }); has {
		return half.CloseWrite()
	}
	return errNoHalf
}
