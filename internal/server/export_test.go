package server

import "time"

// NewForTest is New with waits that a test can sit through. A client may take as long as is said to send
// a request's body, and to read what is written.
func NewForTest(c Config, client time.Duration) *Server {
	return newServer(c, pace{
		body: client, beat: 100 * time.Millisecond, stall: client, farewell: time.Minute, goodbye: 10 * time.Second,
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
