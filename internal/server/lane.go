package server

import (
	"context"
	"errors"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
)

// A rider is a watcher whose connection was taken over from net/http and which has
// no goroutine: a lane writes to it. That is what makes ten thousand of them cheap.
type rider struct {
	watcher
	conn  net.Conn
	raw   syscall.RawConn
	leave func()
	rest  []byte // of what was written in part
}

// errStalled is the error of a write that took too long.
var errStalled = errors.New("the reader has stopped reading")

// send writes an event, waiting for the reader as long as the pace allows.
func (r *rider) send(f *frame, stall time.Duration) error {
	lines, err := f.lines()
	if err != nil {
		return err
	}
	return r.write(lines, stall)
}

// write writes the rest that is left and then lines. After errStalled, rest is what
// the reader still has to be given.
func (r *rider) write(lines []byte, stall time.Duration) error {
	pending := lines
	if len(r.rest) > 0 {
		pending = append(append([]byte(nil), r.rest...), lines...)
	}
	r.rest = nil
	if len(pending) == 0 {
		return nil
	}
	if err := r.conn.SetWriteDeadline(time.Now().Add(stall)); err != nil {
		return err
	}
	n, err := r.conn.Write(pending)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		r.rest = pending[n:]
		return errStalled
	}
	// The lane's writes do not wait, and would fail once this deadline is past.
	return errors.Join(err, r.conn.SetWriteDeadline(time.Time{}))
}

// part ends a rider. One that is to go on elsewhere is told so; if it reads again
// within the farewell, it gets the whole of what it missed of the last event first.
func (h *hub) part(r *rider, word string) {
	defer r.leave()
	defer r.conn.Close()
	if word == "" {
		return
	}
	until := time.Now().Add(h.pace.farewell)
	err := r.write(resumeLines(r.seq, word), h.pace.goodbye)
	for errors.Is(err, errStalled) && time.Now().Before(until) && !h.isDraining() {
		err = r.write(nil, h.pace.goodbye)
	}
}

// A seat sends a rider its events while it has a goroutine.
type seat struct {
	rider *rider
	stall time.Duration
}

// send writes an event. Of one that could be written in part only, the rest comes
// before all else: the rider goes on after it.
func (s seat) send(f *frame) error {
	err := s.rider.send(f, s.stall)
	if errors.Is(err, errStalled) {
		s.rider.seq = f.event.Seq
	}
	return err
}

func (s seat) beat() error { return s.rider.write(beatLines, s.stall) }

// ride brings a rider up to now and leaves it to a lane. It takes as long as the
// reader does.
func (h *hub) ride(ctx context.Context, r *rider) {
	out := seat{rider: r, stall: h.pace.stall}
	var err error
	for parked := false; err == nil && !parked; {
		if err = r.write(nil, h.pace.stall); err != nil {
			break
		}
		if _, err = h.bring(ctx, &r.watcher, out); err != nil {
			break
		}
		parked, err = h.park(r)
	}
	told, ok := errors.AsType[*failure](err)
	switch {
	case err == nil:
	case ok && told.resume:
		h.part(r, told.word)
	case errors.Is(err, errStalled):
		h.log.Info("a watcher has stopped reading", "after", r.seq)
		h.part(r, wordSlow)
	default:
		h.part(r, "")
	}
}

// park gives a rider to a lane. It is false when there is more to send first.
func (h *hub) park(r *rider) (bool, error) {
	l := h.lanes[int(h.nextLane.Add(1))%len(h.lanes)]
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return false, r.resume(wordDraining)
	case r.seq < l.seq:
		return false, nil
	}
	l.riders = append(l.riders, r)
	return true, nil
}

// A lane writes to its riders, one after the other and never waiting for any: who
// cannot take the bytes at once gets a goroutine until it has caught up.
type lane struct {
	hub *hub

	mu     sync.Mutex
	riders []*rider
	seq    int64 // every rider has had, or has been sent, all up to this one
	closed bool
}

func newLanes(h *hub) []*lane {
	lanes := make([]*lane, runtime.GOMAXPROCS(0))
	for i := range lanes {
		lanes[i] = &lane{hub: h}
	}
	return lanes
}

// run pushes frames until the hub drains. The window keeps what a lane has not had:
// see publish.
func (l *lane) run(ctx context.Context) {
	beat := time.NewTicker(l.hub.pace.beat)
	defer beat.Stop()
	for !l.hub.isDraining() {
		frames, changed, _ := l.hub.after(l.at())
		if len(frames) > 0 {
			l.push(ctx, frames)
			continue
		}
		select {
		case <-changed:
		case <-beat.C:
			l.each(func(r *rider) bool { return l.write(ctx, r, beatLines, r.seq) })
		case <-l.hub.draining:
		}
	}
	l.end()
}

func (l *lane) at() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seq
}

// each calls f for every rider and keeps those for which it returns true.
func (l *lane) each(f func(*rider) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(f)
}

func (l *lane) keep(f func(*rider) bool) {
	kept := l.riders[:0]
	for _, r := range l.riders {
		if f(r) {
			kept = append(kept, r)
		}
	}
	clear(l.riders[len(kept):])
	l.riders = kept
}

// push sends frames to every rider that wants them. Those who want all get them in
// one write.
func (l *lane) push(ctx context.Context, frames []*frame) {
	defer l.hub.moved()
	l.mu.Lock()
	defer l.mu.Unlock()
	before, last := l.seq, frames[len(frames)-1].event.Seq
	all := join(frames, &watcher{})
	l.keep(func(r *rider) bool {
		lines := all
		if r.project != "" || r.session != "" || r.seq > before {
			lines = join(frames, &r.watcher)
		}
		return l.write(ctx, r, lines, max(last, r.seq))
	})
	l.seq = last
}

// join returns what a watcher wants of frames, as one piece.
func join(frames []*frame, w *watcher) []byte {
	var lines []byte
	for _, f := range frames {
		if f.event.Seq <= w.seq || !w.wants(&f.event) {
			continue
		}
		more, err := f.lines()
		switch {
		case err != nil: // an event that has no JSON is in no store
		case lines == nil:
			lines = slices.Clip(more)
		default:
			lines = append(lines, more...)
		}
	}
	return lines
}

// write gives a rider lines, after which it has had everything up to seq. It
// reports whether the rider stays in the lane.
func (l *lane) write(ctx context.Context, r *rider, lines []byte, seq int64) bool {
	if len(lines) == 0 {
		r.seq = seq
		return true
	}
	n, err := tryWrite(r.raw, lines)
	switch {
	case err != nil:
		_ = r.conn.Close()
		r.leave()
		return false
	case n == len(lines):
		r.seq = seq
		return true
	}
	r.rest, r.seq = lines[n:], seq
	l.hub.owned.Go(func() { l.hub.ride(ctx, r) })
	return false
}

// end tells every rider to resume. Most can be told at once; the others get the
// time of a farewell.
func (l *lane) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.keep(func(r *rider) bool {
		l.hub.owned.Go(func() { l.hub.part(r, wordDraining) })
		return false
	})
}
