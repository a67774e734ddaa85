// Package lazyregexp holds regular expressions that are compiled when they are first
// used. A variable of this kind costs nothing at start-up.
package lazyregexp

import (
	"regexp"
	"sync"
)

// A Regexp is an expression in the syntax of package regexp. It must be valid, and is
// safe for concurrent use.
type Regexp struct {
	Text string

	once sync.Once
	re   *regexp.Regexp
}

// Get returns the compiled expression. It panics when Text is not one.
func (l *Regexp) Get() *regexp.Regexp {
	l.once.Do(func() { l.re = regexp.MustCompile(l.Text) })
	return l.re
}
