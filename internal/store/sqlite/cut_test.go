package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/store/sqlite"
)

// An interrupted view drops its connection. Closing the connection before its statements
// used to crash the process.
func TestViewsThatAreCutOff(t *testing.T) {
	t.Parallel()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "umpire.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 300 {
		ctx, cut := context.WithCancel(t.Context())
		err := s.View(ctx, func(tx *store.Tx) error {
			if _, err := tx.Sessions.List(store.SessionQuery{}); err != nil {
				return err
			}
			cut()
			_, err := tx.Sessions.List(store.SessionQuery{})
			return err
		})
		if err == nil {
			t.Fatal("a view that was cut off is no error")
		}
	}
	if err := s.View(t.Context(), func(tx *store.Tx) error { _, err := tx.Sessions.List(store.SessionQuery{}); return err }); err != nil {
		t.Fatal(err)
	}
}
