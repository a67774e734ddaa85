package gate

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
)

// TestAwaitReturnsWithTheAnswer: it wakes for its own session only, ends with the
// context, and leaves nothing behind.
func TestAwaitReturnsWithTheAnswer(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s, other := d.session(umpire.Opening{ID: "s"}), d.session(umpire.Opening{ID: "other"})
	for i, of := range []umpire.Session{s, other} {
		id := []string{"b", "c"}[i]
		if b := d.submit(of, id, command(id, "npm publish")); b.State != umpire.BatchWaiting {
			t.Fatalf("batch %s is %s", id, b.State)
		}
	}
	if b, err := d.Await(t.Context(), s.ID, "b", time.Millisecond); err != nil || b.State != umpire.BatchWaiting {
		t.Errorf("after the time: %s, %v", b.State, err)
	}
	gone, leave := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, leave)
	if _, err := d.Await(gone, s.ID, "b", time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context: %v", err)
	}
	if _, err := d.Await(t.Context(), s.ID, "nosuch", time.Hour); !errors.Is(err, umpire.ErrNotFound) {
		t.Errorf("no such batch: %v", err)
	}
	answered := make(chan umpire.Batch)
	for range 2 {
		go func() {
			b, err := d.Await(t.Context(), s.ID, "b", time.Hour)
			if err != nil {
				t.Error(err)
			}
			answered <- b
		}()
	}
	d.approve("c", umpire.ScopeOnce)
	d.approve("b", umpire.ScopeOnce)
	for range 2 {
		if b := <-answered; b.State != umpire.BatchRunning {
			t.Errorf("after the answer: %s", b.State)
		}
	}
	if len(d.news.subscribers) > 0 || d.news.count > 0 {
		t.Errorf("%d subscribers are left", d.news.count)
	}
}
