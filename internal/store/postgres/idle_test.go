package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"sync/atomic"
	"testing"

	"github.com/umpirehq/umpire/internal/store/storetest"
)

// A counter is a connector that counts the queries on its connections.
type counter struct {
	connector

	queries atomic.Int64
}

func (c *counter) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &counted{connection: conn.(*connection), by: c}, nil
}

type counted struct {
	*connection

	by *counter
}

func (c *counted) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.by.queries.Add(1)
	return c.connection.QueryContext(ctx, query, args)
}

// TestIdleStoreAsksOnce checks that an idle store polls with one statement and wakes no watchers.
// An event that is not complete yet takes more statements, and then wakes the watchers.
func TestIdleStoreAsksOnce(t *testing.T) {
	t.Parallel()
	dsn := storetest.Postgres(t)
	s := open(t, dsn)
	dial, err := parseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	c := &counter{connector: dial}
	db := sql.OpenDB(c)
	defer db.Close()
	h := newHerald(db, dial.config)
	for range 3 {
		if err := s.Update(t.Context(), addEvent("s")); err != nil {
			t.Fatal(err)
		}
		news, behind := h.refresh(t.Context())
		if !news {
			t.Error("an event wakes nobody")
		}
		for behind {
			_, behind = h.refresh(t.Context())
		}
		before := c.queries.Load()
		for range 10 {
			if news, behind := h.refresh(t.Context()); news || behind {
				t.Errorf("nothing happened: news %v, behind %v", news, behind)
			}
		}
		if n := c.queries.Load() - before; n != 10 {
			t.Errorf("ten looks are %d statements, want 10", n)
		}
	}
}
