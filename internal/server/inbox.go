package server

import (
	"sync"
	"time"

	"github.com/umpirehq/umpire"
)

// inboxGrace is how long an inbox counts as open after it was last seen: a page that
// loads again, or a laptop that changes networks, is back before it is over.
const inboxGrace = time.Minute

// An inbox knows whether a person would see a question now: whether something that shows
// questions is connected. The zero value, with now set, has none.
type inbox struct {
	now func() time.Time

	mu   sync.Mutex
	open int
	last time.Time // when the last one left
}

// figures is what umpire's own collector of figures calls itself: nobody reads there.
const figures = "umpire-metrics"

// enter counts a watcher in, if a person may look at questions there: it has the
// person's credential and follows more than one session.
func (b *inbox) enter(x *exchange, session umpire.SessionID) (leave func()) {
	if x.role < rolePerson || session != "" || x.claim == figures {
		return func() {}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open++
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.open--
		b.last = b.now()
	})
}

// attended reports whether an inbox is open, or was a moment ago.
func (b *inbox) attended() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open > 0 || !b.last.IsZero() && b.now().Sub(b.last) < inboxGrace
}
