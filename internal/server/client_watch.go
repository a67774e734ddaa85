package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
)

// maxLine is the longest line of a stream of events.
const maxLine = 64 << 20

// A watchPace configures how long a watcher waits.
type watchPace struct {
	silence  time.Duration // a gate that is silent for this long is gone
	minRetry time.Duration
	maxRetry time.Duration
	patience time.Duration // to reach the gate again
}

// The gate sends a comment every 15 seconds.
var usualWatch = watchPace{
	silence: 50 * time.Second, minRetry: 50 * time.Millisecond, maxRetry: 5 * time.Second, patience: time.Minute,
}

// errSilent ends a stream that has fallen silent.
var errSilent = errors.New("the gate stopped answering")

var errLongLine = umpire.Errorf("events: a line is longer than %d bytes", maxLine)

// eventsAtOnce is the size of a page of events.
const eventsAtOnce = 1000

// Events returns stored events, the oldest first.
func (c *Client) Events(ctx context.Context, f umpire.Filter) ([]umpire.Event, error) {
	if f.Last > 0 {
		return lastEvents(ctx, c, f)
	}
	return readPages(f.Limit, eventsAtOnce, func(last *umpire.Event, size int) ([]umpire.Event, following, error) {
		if f.Limit = size; last != nil {
			f.After = last.Seq
		}
		return listEvents(ctx, c, f)
	})
}

// lastEvents reads pages backwards.
func lastEvents(ctx context.Context, c *Client, f umpire.Filter) ([]umpire.Event, error) {
	all, err := readPages(f.Last, f.Last, func(first *umpire.Event, size int) ([]umpire.Event, following, error) {
		if f.Last = size; first != nil {
			f.Before = first.Seq
		}
		page, more, err := listEvents(ctx, c, f)
		slices.Reverse(page)
		if more.More == nil {
			more.More = new(false) // an older gate does not know Before
		}
		return page, more, err
	})
	slices.Reverse(all)
	return all, err
}

func listEvents(ctx context.Context, c *Client, f umpire.Filter) ([]umpire.Event, following, error) {
	type list struct {
		Events []umpire.Event `json:"events"`
		following
	}
	out, err := call[list](ctx, c, "TimelineService/List", eventQuery{f, true})
	return out.Events, out.following, err
}

// Watch yields stored events first and then new ones as they commit, until ctx ends, it yields an
// error, or it has yielded f.Limit events. If the gate goes away, Watch resumes after the last
// event once the gate is back, without gaps or duplicates. It gives up, with an error that matches
// [ErrUnreachable], when the gate stays away for a minute.
func (c *Client) Watch(ctx context.Context, f umpire.Filter) iter.Seq2[umpire.Event, error] {
	return func(yield func(umpire.Event, error) bool) {
		w := &watching{client: c, filter: f, left: f.Limit, yield: yield}
		if err := w.run(ctx); err != nil {
			yield(umpire.Event{}, err)
		}
	}
}

// errDone ends a watcher whose caller has had enough.
var errDone = errors.New("done")

// A watching is one running Watch.
type watching struct {
	client *Client
	filter umpire.Filter // After is where to continue
	left   int           // events to yield; 0 means no limit
	yield  func(umpire.Event, error) bool
	heard  bool // whether the gate has answered since the last loss
}

// run streams repeatedly. It waits only for a gate that it has reached before.
func (w *watching) run(ctx context.Context) error {
	var lost time.Time // zero while the gate is there
	wait := w.client.pace.minRetry
	for first := true; ; first = false {
		w.heard = false
		err := w.stream(ctx)
		switch {
		case errors.Is(err, errDone):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case w.heard:
			lost, wait = time.Now(), w.client.pace.minRetry
		}
		if !passing(err) || first && !w.heard || time.Since(lost) > w.client.pace.patience {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		wait = min(2*wait, w.client.pace.maxRetry)
	}
}

// passing reports whether a retry may succeed.
func passing(err error) bool {
	return errors.Is(err, ErrUnreachable) || errors.Is(err, errGoingAway) || errors.Is(err, umpire.ErrLimit)
}

// stream reads one answer until it ends. Silence ends it, too.
func (w *watching) stream(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(w.client.pace.silence, func() { cancel(errSilent) })
	defer silence.Stop()
	query := url.Values{"after": {strconv.FormatInt(w.filter.After, 10)}}
	if w.filter.Project != "" {
		query.Set("project", string(w.filter.Project))
	}
	if w.filter.Session != "" {
		query.Set("session", string(w.filter.Session))
	}
	request, err := w.client.request(ctx, http.MethodGet, "/v1/events?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	response, err := w.client.do(request)
	if err != nil {
		return silent(ctx, err)
	}
	defer response.Body.Close()
	w.heard = true
	return silent(ctx, w.read(response.Body, func() { silence.Reset(w.client.pace.silence) }))
}

// silent distinguishes an end by silence from one by the caller.
func silent(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errSilent) {
		return umpire.Errorf("%w: %w", ErrUnreachable, cause)
	}
	return err
}

// read reads events from a stream. An event that is cut short is not yielded, and comes again.
func (w *watching) read(from io.Reader, heard func()) error {
	lines := bufio.NewReader(from)
	var kind string
	var data []byte
	for {
		line, err := strictjson.ReadLine(lines, maxLine)
		switch {
		case errors.Is(err, strictjson.ErrLineTooLong):
			return errLongLine
		case err != nil:
			return unreachable(err)
		}
		heard()
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(line) == 0:
			if err := w.take(kind, data); err != nil {
				return err
			}
			kind, data = "", nil
		case string(name) == "event":
			kind = string(value)
		case string(name) == "data":
			data = append(data, value...)
		}
	}
}

// resumeKind is the event by which the gate ends a stream that must be continued by another
// request.
const resumeKind = "resume"

// take yields one event.
func (w *watching) take(kind string, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	if kind == resumeKind {
		var at struct {
			After int64 `json:"after"`
		}
		if err := json.Unmarshal(data, &at); err != nil {
			return umpire.Errorf("events: resume: %w", err)
		}
		w.filter.After = max(w.filter.After, at.After)
		return errGoingAway
	}
	var e umpire.Event
	if err := json.Unmarshal(data, &e); err != nil {
		return umpire.Errorf("events: after %d: %w", w.filter.After, err)
	}
	if e.Seq <= w.filter.After {
		return nil
	}
	w.filter.After = e.Seq
	if !w.yield(e, nil) {
		return errDone
	}
	if w.left--; w.left == 0 {
		return errDone
	}
	return nil
}
