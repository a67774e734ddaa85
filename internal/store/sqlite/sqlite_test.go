package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files/sample"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/store/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, fresh)
}

//nolint:paralleltest // it counts allocations
func TestPendingListsWhatItReturns(t *testing.T) {
	storetest.ListsPending(t, fresh, sample.Times(2_000, 10_000))
}

func BenchmarkPending(b *testing.B) { storetest.BenchPending(b, fresh) }

func BenchmarkTimeline(b *testing.B) { storetest.BenchTimeline(b, fresh) }

func BenchmarkSessions(b *testing.B) { storetest.BenchSessions(b, fresh) }

// fresh makes a new database.
func fresh(t testing.TB) storetest.Database {
	path := filepath.Join(t.TempDir(), "state", "umpire.db")
	if err := create(path); err != nil {
		t.Fatal(err)
	}
	return storetest.Database{
		Open: func(ctx context.Context) (*store.Store, error) { return Open(ctx, path) },
		Raw:  raw(t, dsn(path)),
	}
}

// raw opens a file directly.
func raw(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// TestReplaceIsRefused covers SQLite's REPLACE, which skips delete triggers if a
// connection is so configured. Every table with a guarantee must refuse it.
func TestReplaceIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "umpire.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	storetest.Fill(t, s)
	err = s.Update(t.Context(), func(tx *store.Tx) error { return tx.Sessions.Insert(umpire.Session{ID: "without a project"}) })
	if err != nil {
		t.Fatal(err)
	}
	db := raw(t, "file:"+path) // with a stranger's settings
	for _, table := range []string{
		"sessions", "project_sessions", "project_last_root_session", "batches", "calls", "asks", "answers", "grants", "executions", "results",
		"resumes", "trials", "messages", "events", "streams", "sessions WHERE project_id IS NULL",
	} {
		into, _, _ := strings.Cut(table, " ")
		var rows int
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&rows); err != nil || rows == 0 {
			t.Errorf("%s has %d rows: nothing is shown (%v)", table, rows, err)
		}
		_, err := db.ExecContext(t.Context(), "INSERT OR REPLACE INTO "+into+" SELECT * FROM "+table)
		if err == nil || fault(err) != store.FaultConflict {
			t.Errorf("INSERT OR REPLACE INTO %s: %v", table, err)
		}
	}
	if breaks, err := s.Verify(t.Context(), nil); err != nil || len(breaks) > 0 {
		t.Errorf("Verify: %v, %v", breaks, err)
	}
}
