package sqlite

import (
	"context"
	"database/sql"
	"time"
)

// pollTime is how soon the commits of other processes are noticed.
const pollTime = 250 * time.Millisecond

// A herald watches SQLite's own counter of commits.
type herald struct{ db *sql.DB }

func newHerald(db *sql.DB) *herald { return &herald{db: db} }

// Run polls on a connection of its own, for which the counter moves with every
// commit of another one, in this process or elsewhere.
func (h *herald) Run(ctx context.Context, ring func()) {
	ticker := time.NewTicker(pollTime)
	defer ticker.Stop()
	var c *sql.Conn
	defer func() {
		if c != nil {
			_ = c.Close() // it has only read
		}
	}()
	var seen int64
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if c == nil {
			if c, _ = h.db.Conn(ctx); c == nil {
				continue
			}
		}
		version, err := dataVersion(c)
		if err != nil || version != seen {
			seen = version
			ring()
		}
	}
}

func dataVersion(c *sql.Conn) (version int64, err error) {
	// The context has no end, so that no goroutine is made to wait for it each time.
	err = c.QueryRowContext(context.Background(), "PRAGMA data_version").Scan(&version)
	return version, err
}

// Committed has nothing to do: others look for themselves.
func (h *herald) Committed(bool) {}

// Prepare has nothing to do: there is one writer at a time.
func (h *herald) Prepare(context.Context, *sql.Conn) error { return nil }

// Horizon is the last event: each writer commits before the next one begins.
func (h *herald) Horizon(ctx context.Context, c *sql.Conn) (seq int64, err error) {
	err = c.QueryRowContext(ctx, "SELECT COALESCE(MAX(seq), 0) FROM events").Scan(&seq)
	return seq, err
}
