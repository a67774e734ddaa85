package server

import "time"

// NewForTest is New with waits that a test can sit through. A request's body may
// take as long as is said.
func NewForTest(c Config, body time.Duration) *Server {
	return newServer(c, pace{
		body: body, beat: 100 * time.Millisecond, stall: 3 * time.Second, farewell: 5 * time.Second, goodbye: time.Second,
	})
}

// WindowFrames is how many events watchers may be behind.
const WindowFrames = windowFrames

// StopClock stops the clock by which requests are counted.
func (s *Server) StopClock() {
	s.limiter.mu.Lock()
	defer s.limiter.mu.Unlock()
	at := s.limiter.now()
	s.limiter.now = func() time.Time { return at }
}
