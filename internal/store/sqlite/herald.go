package sqlite

import (
	"context"
	"database/sql"
	"time"
)

// pollTime is the interval for noticing commits of other processes.
const pollTime = 250 * time.Millisecond

// A herald watches SQLite's own counter of commits.
type herald struct{ db *sql.DB }

func newHerald(db *sql.DB) *herald { return &herald{db: db} }

// Run polls on its own connection, whose counter changes with every commit of another
// connection, in this process or elsewhere.
func (h *herald) Run(ctx context.Context, ring func()) {
	ticker := time.NewTicker(pollTime)
	defer ticker.Stop()
	var c *sql.Conn
	defer func() {
		if c != nil {
			_ = c.Close() // it was only read
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
	// The context never ends, because a cancelable one costs a goroutine for each query.
	err = c.QueryRowContext(context.Background(), "PRAGMA data_version").Scan(&version)
	return version, err
}

// Committed does nothing because other processes poll.
func (h *herald) Committed(bool) {}

// Prepare does nothing because there is one writer at a time.
func (h *herald) Prepare(context.Context, *sql.Conn) error { return nil }

// Horizon returns the last event, because each writer commits before the next one starts.
func (h *herald) Horizon(ctx context.Context, c *sql.Conn) (seq int64, err error) {
	err = c.QueryRowContext(ctx, "SELECT COALESCE(MAX(seq), 0) FROM events").Scan(&seq)
	return seq, err
}
