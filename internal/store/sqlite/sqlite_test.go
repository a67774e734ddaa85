package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/store/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t testing.TB) storetest.Database {
		path := filepath.Join(t.TempDir(), "state", "umpire.db")
		if err := create(path); err != nil {
			t.Fatal(err)
		}
		return storetest.Database{
			Open: func(ctx context.Context) (*store.Store, error) { return Open(ctx, path) },
			Raw:  raw(t, dsn(path)),
		}
	})
}

// raw opens a file past the store.
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
