package server

import (
	"context"
	"net"
	"time"
)

// NewForTest is New with timeouts that suit a test. client limits how long a client may
// take to send a request's body, and to read a write.
func NewForTest(c Config, client time.Duration) *Server {
	return newServer(c, pace{
		body: client, beat: 100 * time.Millisecond, stall: client, farewell: time.Minute, goodbye: 10 * time.Second,
	})
}

// WindowFrames is the number of events by which watchers may lag.
const WindowFrames = windowFrames

// StopClock stops the clock of the request limiter.
func (s *Server) StopClock() {
	s.limiter.mu.Lock()
	defer s.limiter.mu.Unlock()
	at := s.limiter.now()
	s.limiter.now = func() time.Time { return at }
}

// NewClientForTest returns a client over connections of a test's own.
func NewClientForTest(dial func(ctx context.Context, network, address string) (net.Conn, error)) *Client {
	return newClient("http://localhost", "", dial)
}
