package gate

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store/postgres"
	"github.com/umpirehq/umpire/internal/store/storetest"
)

// TestSessionIsReadAtOnce: a reader of one session's events sees everything committed to it, even
// while another transaction is open and the timeline as a whole is incomplete.
func TestSessionIsReadAtOnce(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	dsn := storetest.Postgres(t)
	s, err := postgres.Open(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	g := New(Config{UserHome: t.TempDir(), Store: s})
	defer g.Close()
	other, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(ctx)
	if _, err := other.Exec(ctx, "BEGIN; SELECT pg_current_xact_id()"); err != nil {
		t.Fatal(err)
	}

	opened := must(g.sessions.Open(ctx, umpire.Opening{Dir: t.TempDir()}))(t)
	if n := len(must(g.Events(ctx, umpire.Filter{Session: opened.ID}))(t)); n != 1 {
		t.Errorf("the session has %d events, want the one that opened it", n)
	}
	if n := len(must(g.Events(ctx, umpire.Filter{}))(t)); n != 0 {
		t.Errorf("the timeline shows %d events while others may come before them", n)
	}
	seen := make(chan umpire.Event, 2)
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		defer close(seen)
		for e, err := range g.Watch(watching, umpire.Filter{Session: opened.ID}) {
			if err != nil {
				return
			}
			seen <- e
		}
	}()
	if e := <-seen; e.Kind != umpire.EventSessionOpened {
		t.Errorf("the first event is %q", e.Kind)
	}
	if err := g.sessions.End(ctx, opened.ID, "enough"); err != nil {
		t.Fatal(err)
	}
	if e := <-seen; e.Kind != umpire.EventSessionEnded {
		t.Errorf("the second event is %q", e.Kind)
	}
}
