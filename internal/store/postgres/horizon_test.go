package postgres

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/store/storetest"
)

// TestNothingAppearsBehindTheHorizon covers a server that crashes: it forgets numbers
// that were drawn but not committed, and draws them again. A horizon that counted them
// would hide the events that get them.
func TestNothingAppearsBehindTheHorizon(t *testing.T) {
	t.Parallel()
	server := storetest.NewServer(t)
	dsn := server.Database(t)
	s := open(t, dsn)
	if err := s.Update(t.Context(), addEvent("s")); err != nil {
		t.Fatal(err)
	}
	lazyLog(t, server, dsn)
	err := s.Update(t.Context(), func(tx *store.Tx) error { return errors.Join(addEvent("s")(tx), errDropped) })
	if !errors.Is(err, errDropped) {
		t.Fatal(err)
	}
	horizon, _, err := behind(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	server.Stop(t, true)
	server.Start(t)

	var late umpire.Event
	err = s.Update(t.Context(), func(tx *store.Tx) (err error) {
		late, err = tx.Events.Append(umpire.Event{Kind: umpire.EventNotice, Session: "s", At: time.Now()})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if late.Seq <= horizon {
		t.Errorf("event %d appeared, and the horizon was at %d", late.Seq, horizon)
	}
	if seqs := reach(t, s, late.Seq); len(seqs) != 2 {
		t.Errorf("events up to the horizon: %v, want 2", seqs)
	}
}

// TestHorizonMovesOnAfterACrash checks that events committed before a crash, but not yet
// known to be complete, become complete afterwards without new events.
func TestHorizonMovesOnAfterACrash(t *testing.T) {
	t.Parallel()
	server := storetest.NewServer(t)
	dsn := server.Database(t)
	s := open(t, dsn)
	lazyLog(t, server, dsn)
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	other, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, statement := range []string{"BEGIN", "SELECT pg_current_xact_id()"} {
		if _, err := other.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Update(t.Context(), addEvent("s")); err != nil {
		t.Fatal(err)
	}
	if horizon, _, err := behind(t.Context(), s); err != nil || horizon != 0 {
		t.Fatalf("the horizon is %d while somebody writes (%v)", horizon, err)
	}
	server.Stop(t, true)
	server.Start(t)
	if seqs := reach(t, s, 1); len(seqs) != 1 {
		t.Errorf("events up to the horizon: %v, want one", seqs)
	}
}

var errDropped = errors.New("dropped")

// lazyLog restarts the server with a log that only commits flush. The next drawn number
// must be logged.
func lazyLog(t *testing.T, server *storetest.Server, dsn string) {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "ALTER SYSTEM SET wal_writer_delay = '10s'"); err != nil {
		t.Fatal(err)
	}
	server.Stop(t, false)
	server.Start(t)
}
