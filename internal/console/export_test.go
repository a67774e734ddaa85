package console

import "time"

// MaxStrangers is how many requests of browsers that are not signed in may send a body at a time.
const MaxStrangers = maxStrangers

// RemoteAddress is where the console listens for browsers on other machines.
func (c *Console) RemoteAddress() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.remote.listen
}

// NewAt returns a console with a clock of the test's own.
func NewAt(config Config, now func() time.Time) *Console {
	c := New(config)
	c.now = now
	return c
}
