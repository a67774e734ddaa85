package store_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/store/postgres"
	"github.com/umpirehq/umpire/internal/store/storetest"
)

// TestPostgres checks that checkpoints of a PostgreSQL store stay true during other
// writes, and detect removals by the owner of the database.
func TestPostgres(t *testing.T) {
	t.Parallel()
	dsn := storetest.Postgres(t)
	var stores [2]*store.Store
	for i := range stores {
		s, err := postgres.Open(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		stores[i] = s
	}
	write := func(i int, session umpire.SessionID) {
		t.Helper()
		if err := stores[i].Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Events.Append(umpire.Event{Kind: umpire.EventNotice, Session: session, At: noon})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	record := store.CheckpointRecord{Path: filepath.Join(t.TempDir(), "a.json"), Key: newKey(t, t.TempDir())}
	renew := func(i int) []store.Break {
		t.Helper()
		breaks, err := record.Renew(t.Context(), stores[i], noon)
		if err != nil {
			t.Fatal(err)
		}
		return breaks
	}
	var taken []store.Checkpoint
	for i, session := range []umpire.SessionID{"a", "B", "", "b", "a", "B"} {
		write(i%2, session)
		taken = append(taken, takeUpTo(t, stores[1-i%2], int64(i+1)))
		if breaks := renew(i % 2); len(breaks) > 0 {
			t.Errorf("after event %d: %v", i, breaks)
		}
	}
	compare := func(c *store.Checkpoint) (breaks []store.Break) {
		t.Helper()
		if err := stores[0].View(t.Context(), func(tx *store.Tx) (err error) {
			breaks, err = c.Compare(tx)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return breaks
	}
	for i := range taken {
		if breaks := compare(&taken[i]); len(breaks) > 0 {
			t.Errorf("checkpoint %d: %v", i, breaks)
		}
	}
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{
		`ALTER TABLE events DISABLE TRIGGER ALL`, `ALTER TABLE streams DISABLE TRIGGER ALL`,
		`DELETE FROM events WHERE session_id = 'b'`, `DELETE FROM streams WHERE session_id = 'b'`,
		`ALTER TABLE events ENABLE TRIGGER ALL`, `ALTER TABLE streams ENABLE TRIGGER ALL`,
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if breaks, err := stores[1].Verify(t.Context(), nil); err != nil || len(breaks) > 0 {
		t.Errorf("the chain after a session was removed with all that tells of it: %v, %v", breaks, err)
	}
	if breaks := renew(1); len(breaks) != 1 || breaks[0].Session != "b" {
		t.Errorf("what is known says %v", breaks)
	}
	for i := range taken {
		breaks := compare(&taken[i])
		if had := i >= 3; (len(breaks) == 1) != had || had && !strings.Contains(breaks[0].Problem, "1 sessions are missing") {
			t.Errorf("checkpoint %d says %v", i, breaks)
		}
	}
}

// takeUpTo waits until n events are complete.
func takeUpTo(t *testing.T, s *store.Store, n int64) (c store.Checkpoint) {
	t.Helper()
	for {
		changed := s.Changed()
		err := s.View(t.Context(), func(tx *store.Tx) (err error) {
			c, _, err = store.TakeCheckpoint(tx, noon)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if c.Events == n {
			return c
		}
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		}
	}
}
