package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/umpirehq/umpire"
)

// streamEvents handles GET /v1/events.
func (c *timelineService) streamEvents(w http.ResponseWriter, r *http.Request) {
	x := exchangeOf(r.Context())
	filter, err := eventFilter(r.URL.RawQuery, r.Header)
	if err == nil && r.Method != http.MethodGet {
		err = wrongMethod(http.MethodGet)
	}
	if err == nil {
		err = c.checkWatch(r.Context(), filter)
	}
	var leave func()
	if err == nil {
		leave, err = c.subscribe(r.Context(), x, filter)
	}
	if err != nil {
		c.refuser.refuse(w, r, err)
		return
	}
	at := newSubscriber(filter)
	for name, value := range eventHead {
		w.Header().Set(name, value)
	}
	if r.ProtoMajor != 1 || r.ProtoMinor != 1 {
		defer leave()
		c.streamHTTP(w, r, at)
		return
	}
	raw, err := takeOver(w, c.pace, x.codes)
	if err != nil {
		leave()
		c.log.Debug("taking over a connection", "error", err)
		return
	}
	c.broker.serveRaw(r.Context(), at, raw, leave)
}

// subscribe registers a subscriber with the broker and as an inbox.
func (c *timelineService) subscribe(ctx context.Context, x *exchange, f umpire.Filter) (leave func(), err error) {
	leaveBroker, err := c.broker.enter(x.role)
	if err != nil {
		return nil, err
	}
	if err := c.broker.start(ctx); err != nil {
		leaveBroker()
		return nil, err
	}
	leaveInbox := c.inbox.enter(x, f)
	return func() { leaveInbox(); leaveBroker() }, nil
}

// eventFilter parses a watcher's filter. The header overrides the query: a browser sends
// it when it reconnects with its original address.
func eventFilter(query string, header http.Header) (f umpire.Filter, err error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return f, invalid("query: %v", err)
	}
	for name, given := range values {
		if len(given) > 1 {
			return f, invalid("%s: given %d times", name, len(given))
		}
	}
	f.Project = umpire.ProjectID(values.Get("project"))
	f.Session = umpire.SessionID(values.Get("session"))
	name, text := "after", values.Get("after")
	if last := header.Get("Last-Event-ID"); last != "" {
		name, text = "Last-Event-ID", last
	}
	if text == "" {
		return f, nil
	}
	f.After, err = strconv.ParseInt(text, 10, 64)
	if err != nil || f.After < 0 {
		return f, invalid("%s: want a sequence number, got %q", name, text)
	}
	return f, nil
}

// checkWatch returns why a client may not watch the events of a filter: an agent may only
// watch its own sessions.
func (c *timelineService) checkWatch(ctx context.Context, f umpire.Filter) error {
	if f.Session == "" {
		if exchangeOf(ctx).role < rolePerson {
			return forbidden("an agent's credential watches one session: session is missing")
		}
		return nil
	}
	if err := c.owner.checkOwn(ctx, f.Session); err != nil {
		return err
	}
	return checkFilter(ctx, c.gate, f)
}

// checkFilter refuses a session that does not exist, and one of another project. A
// deleted session's events still exist.
func checkFilter(ctx context.Context, g umpire.Gate, f umpire.Filter) error {
	if f.Session == "" {
		return nil
	}
	session, err := g.Sessions().Get(ctx, f.Session)
	if errors.Is(err, umpire.ErrNotFound) {
		left, err := g.Events(ctx, umpire.Filter{Session: f.Session, Limit: 1})
		switch {
		case err != nil:
			return err
		case len(left) == 0:
			return umpire.Errorf("session %q: %w", f.Session, umpire.ErrNotFound)
		}
		session.Project = left[0].Project
	} else if err != nil {
		return err
	}
	if f.Project != "" && session.Project != f.Project {
		return umpire.Errorf("session %q is of project %s, not %s: %w",
			f.Session, session.Project.Short(), f.Project.Short(), umpire.ErrOtherProject)
	}
	return nil
}

// eventHead are the headers of an event stream, in addition to safeHeaders.
var eventHead = map[string]string{"Content-Type": "text/event-stream", "X-Accel-Buffering": "no"}

// streamHTTP sends events through net/http.
func (c *timelineService) streamHTTP(w http.ResponseWriter, r *http.Request, at *subscriber) {
	w.WriteHeader(http.StatusOK)
	out := httpStream{w: w, flush: http.NewResponseController(w).Flush, codes: exchangeOf(r.Context()).codes}
	if out.flush() != nil {
		return
	}
	err := c.broker.serve(r.Context(), at, out)
	c.log.Debug("a watcher has gone", "after", at.seq, "why", err)
	if told, ok := errors.AsType[*failure](err); ok && told.resume {
		// Nothing more can be done if this fails.
		_ = out.write(resumeLines(told.after, told.word))
	}
}

// An httpStream is an event stream written by net/http.
type httpStream struct {
	w     io.Writer
	flush func() error
	codes bool // send phrases as codes
}

func (o httpStream) send(frames []*frame) error {
	lines, err := joinLines(frames, o.codes)
	if err != nil {
		return err
	}
	return o.write(lines)
}

func (o httpStream) beat() error { return o.write(beatLines) }

func (o httpStream) write(lines []byte) error {
	if _, err := o.w.Write(lines); err != nil {
		return err
	}
	return o.flush()
}
