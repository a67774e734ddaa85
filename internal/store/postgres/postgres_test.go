package postgres

import (
	"context"
	"database/sql"
	"testing"

	"go.uber.org/goleak"

	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStore(t *testing.T) {
	t.Parallel()
	server := storetest.NewServer(t)
	storetest.Run(t, func(t testing.TB) storetest.Database {
		dsn := server.Database(t)
		db, err := sql.Open("pgx", dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		return storetest.Database{
			Open: func(ctx context.Context) (*store.Store, error) { return Open(ctx, dsn) },
			Raw:  db,
		}
	})
}
