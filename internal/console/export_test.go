package console

import "time"

// MaxStrangers is how many requests of browsers that are not signed in may send a body at a time.
const MaxStrangers = maxStrangers

// NewAt returns a console with a clock of the test's own.
func NewAt(config Config, now func() time.Time) *Console {
	c := New(config)
	c.now = now
	return c
}
