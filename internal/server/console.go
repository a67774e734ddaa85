package server

import (
	"context"
	"io"
	"net/http"
	"sync"

	"github.com/umpirehq/umpire"
)

// consolePath opens the console for a terminal. The response has lines of text for that
// terminal, and lasts until the client disconnects. The first line is a sign-in link.
// Only `umpire console` and `umpire console pair` use it.
const consolePath = "/umpire.v1.Console/Open"

// A ConsoleOpener lets a terminal follow the console in a language until ctx ends. Each
// write is one line. The first is a link for the person (a name or ""), which works on
// other machines if remote is set.
type ConsoleOpener func(ctx context.Context, lang, person string, remote bool, terminal io.Writer) error

// openConsole handles POST /umpire.v1.Console/Open.
func (s *Server) openConsole(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		s.refuser.refuse(w, r, wrongMethod(http.MethodPost))
		return
	}
	exchangeOf(r.Context()).body.done()
	ctx, cancel := context.WithCancel(r.Context())
	var drain sync.WaitGroup
	defer drain.Wait()
	drain.Go(func() {
		select {
		case <-s.broker.draining:
			cancel()
		case <-ctx.Done():
		}
	})
	defer cancel()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	lines := &lineWriter{to: w, flush: http.NewResponseController(w).Flush}
	query := r.URL.Query()
	err := s.config.Console(ctx, query.Get("lang"), query.Get("name"), query.Has("remote"), lines)
	if err != nil && ctx.Err() == nil && !lines.wrote {
		s.refuser.refuse(w, r, err)
	}
}

// A lineWriter flushes each line.
type lineWriter struct {
	to    io.Writer
	flush func() error
	wrote bool
}

func (w *lineWriter) Write(line []byte) (int, error) {
	w.wrote = true
	n, err := w.to.Write(line)
	if err == nil {
		err = w.flush()
	}
	return n, err
}

// Shows reports whether a person would see a session's question now.
func (s *Server) Shows(ctx context.Context, session umpire.SessionID) bool {
	return s.inbox.shows(ctx, s.config.Gate, session)
}

// Attend counts a page as an inbox in which a person sees questions, until leave is called.
func (s *Server) Attend() (leave func()) {
	return s.inbox.enter(&exchange{role: rolePerson}, umpire.Filter{})
}
