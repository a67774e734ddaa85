package server

import (
	"context"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
)

// inboxGrace is how long an inbox counts as open after it was last seen. A page that
// reloads, or a laptop that changes networks, is back before that.
const inboxGrace = time.Minute

// An inbox tells whether a person would see a question now, because something that shows
// its project's questions is connected. Make it with newInbox.
type inbox struct {
	now func() time.Time

	mu       sync.Mutex
	watchers map[umpire.ProjectID]*watchers // "" shows the questions of all projects
}

// watchers are the connections that show a project's questions.
type watchers struct {
	open int
	last time.Time // when the last one left
}

func newInbox(now func() time.Time) *inbox {
	return &inbox{now: now, watchers: map[umpire.ProjectID]*watchers{}}
}

// enter registers a watcher if people may see questions there: it has the person's
// credential and follows more than one session.
func (b *inbox) enter(x *exchange, f umpire.Filter) (leave func()) {
	if x.role < rolePerson || f.Session != "" {
		return func() {}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.watchers[f.Project]
	if of == nil {
		of = &watchers{}
		b.watchers[f.Project] = of
	}
	of.open++
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		of.open--
		of.last = b.now()
	})
}

// attended reports whether an inbox that shows a project's questions is open, or was a
// moment ago. It calls project only if the result depends on it.
func (b *inbox) attended(project func() umpire.ProjectID) bool {
	if b.isWatched("") {
		return true
	}
	b.mu.Lock()
	known := len(b.watchers) > 0
	b.mu.Unlock()
	return known && b.isWatched(project())
}

// shows reports whether a person would see a session's question now.
func (b *inbox) shows(ctx context.Context, gate umpire.Gate, session umpire.SessionID) bool {
	return b.attended(func() umpire.ProjectID {
		s, _ := gate.Sessions().Get(ctx, session) // questions of an unknown session are not visible to people
		return s.Project
	})
}

// isWatched reports whether a project has watchers or had some a moment ago. It forgets
// those that are gone for good.
func (b *inbox) isWatched(project umpire.ProjectID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.watchers[project]
	if of == nil {
		return false
	}
	if of.open == 0 && b.now().Sub(of.last) >= inboxGrace {
		delete(b.watchers, project)
		return false
	}
	return true
}
