package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"

	"modernc.org/sqlite"

	"github.com/umpirehq/umpire/internal/store"
)

// TestViewsThatAreCutOffLeaveNothingOpen covers a context that ends while a transaction
// begins, so only the answer is lost. The next view gets the connection.
//
//nolint:paralleltest // the driver has one list of functions, which others read when they open a database
func TestViewsThatAreCutOffLeaveNothingOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "umpire.db")
	if err := create(path); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var hold atomic.Bool
	hold.Store(true)
	err = sqlite.RegisterScalarFunction("cut_off", 0, func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
		cancel()
		return hold.Load(), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	d := dialect(fault)
	// BEGIN runs until it is interrupted.
	d.BeginView = `BEGIN; WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE cut_off()) SELECT count(*) FROM c`
	s, err := store.New(t.Context(), db, d)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	look := func(tx *store.Tx) error {
		_, err := tx.Sessions.List(store.SessionQuery{})
		return err
	}
	if err := s.View(ctx, look); !errors.Is(err, context.Canceled) {
		t.Errorf("the view that was cut off: %v", err)
	}
	hold.Store(false)
	if err := s.View(t.Context(), look); err != nil {
		t.Errorf("the view after it: %v", err)
	}
}
