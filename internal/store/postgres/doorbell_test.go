package postgres

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/store/storetest"
)

// TestDoorbell checks that questions and answers notify other processes, once for several
// at a time. Other events do not, because a notification slows every commit.
func TestDoorbell(t *testing.T) {
	t.Parallel()
	server := storetest.NewServer(t)
	dsn := server.Database(t)
	s := open(t, dsn)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	listener, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close(context.WithoutCancel(ctx))
	if _, err := listener.Exec(ctx, "LISTEN "+channel); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if err := s.Update(ctx, addEvent("s")); err != nil {
			t.Fatal(err)
		}
	}
	if n := rings(ctx, t, listener, dsn); n != 0 {
		t.Errorf("%d rings for events", n)
	}
	tally := storetest.Tally{Session: "asks"}
	tally.Work(ctx, s)
	if _, err := listener.WaitForNotification(ctx); err != nil {
		t.Errorf("nothing rang for a question: %v", err)
	}
	err = s.Update(ctx, func(tx *store.Tx) error { return tx.Workspaces.Save(store.WorkspaceRow{Project: "p"}) })
	if err != nil {
		t.Fatal(err)
	}
	if n := rings(ctx, t, listener, dsn); n > 1 {
		t.Errorf("%d more rings for one question and its answer", n)
	}
}

// rings counts the notifications until one with a text arrives, which only this function
// sends.
func rings(ctx context.Context, t *testing.T, listener *pgx.Conn, dsn string) (n int) {
	t.Helper()
	end, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer end.Close(context.WithoutCancel(ctx))
	if _, err := end.Exec(ctx, "SELECT pg_notify($1, 'end')", channel); err != nil {
		t.Fatal(err)
	}
	for {
		got, err := listener.WaitForNotification(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if got.Payload == "end" {
			return n
		}
		n++
	}
}
