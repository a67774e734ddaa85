package server

import (
	"context"
	"errors"
	"slices"
	"time"

	"connectrpc.com/connect"

	"github.com/umpirehq/umpire"
)

// A subscriber is one reader's filter and position.
type subscriber struct {
	project umpire.ProjectID
	session umpire.SessionID
	seq     int64 // it has received every event up to this one
}

func newSubscriber(f umpire.Filter) *subscriber {
	return &subscriber{project: f.Project, session: f.Session, seq: f.After}
}

func (s *subscriber) wants(f *frame) bool {
	return (s.project == "" || s.project == f.event.Project) && (s.session == "" || s.session == f.event.Session)
}

// A sink receives a subscriber's events.
type sink interface {
	// send writes events. After errStalled, the sink has them all, and writes the rest of
	// them before anything else.
	send(frames []*frame) error
	// beat shows that the gate is alive.
	beat() error
}

// errStalled is the error of a write that took too long.
var errStalled = errors.New("the reader has stopped reading")

// resume returns the error that tells a subscriber to resume elsewhere.
func (s *subscriber) resume(word string) *failure {
	text := "the gate is shutting down; resume after the event named"
	if word == wordSlow {
		text = "the reader was too slow; go on after the event named"
	}
	return &failure{code: connect.CodeUnavailable, word: word, text: text, after: s.seq, resume: true}
}

// serve sends a subscriber its events until ctx ends, the sink fails or the subscriber
// must resume. In the last case the error is a *failure with the position.
func (b *broker) serve(ctx context.Context, s *subscriber, out sink) error {
	beat := time.NewTicker(b.pace.beat)
	defer beat.Stop()
	for {
		next, err := b.sendNew(ctx, s, out)
		if err != nil {
			return err
		}
		select {
		case <-next:
		case <-beat.C:
			if err := out.beat(); err != nil {
				return err
			}
		case <-b.draining:
			return s.resume(wordDraining)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// sendNew sends a subscriber all events so far: from the store those that have left the
// window or precede it, and then the window. The channel is closed when there may be
// more.
func (b *broker) sendNew(ctx context.Context, s *subscriber, out sink) (next <-chan struct{}, err error) {
	for {
		recent := b.recent.Load()
		frames, ok := recent.after(s.seq)
		if ok {
			return recent.next, s.send(frames, recent.tip, out)
		}
		if err := b.sendStored(ctx, s, out, recent.tip); err != nil {
			return nil, err
		}
	}
}

// sendStored sends a subscriber one page from the store. If the page is not full, the
// subscriber has all its events up to tip, which was seen before reading.
func (b *broker) sendStored(ctx context.Context, s *subscriber, out sink, tip int64) error {
	if b.isDraining() {
		return s.resume(wordDraining)
	}
	page, err := b.readPage(ctx, s)
	if err != nil {
		return err
	}
	frames := make([]*frame, len(page))
	for i := range page {
		frames[i] = newFrame(page[i])
	}
	upTo := umpire.LastSeq(page)
	if len(page) < pageSize {
		upTo = max(upTo, tip)
	}
	return s.send(frames, upTo, out)
}

func (b *broker) readPage(ctx context.Context, s *subscriber) ([]umpire.Event, error) {
	select {
	case b.reading <- struct{}{}:
		defer func() { <-b.reading }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return b.timeline.Events(ctx, umpire.Filter{Project: s.project, Session: s.session, After: s.seq, Limit: pageSize})
}

// send sends the frames that the subscriber wants. Afterwards it has received everything
// up to upTo.
func (s *subscriber) send(frames []*frame, upTo int64, out sink) error {
	if s.project != "" || s.session != "" {
		frames = slices.DeleteFunc(slices.Clone(frames), func(f *frame) bool { return !s.wants(f) })
	}
	var err error
	if len(frames) > 0 {
		err = out.send(frames)
	}
	if err == nil || errors.Is(err, errStalled) {
		s.seq = max(s.seq, upTo)
	}
	return err
}
