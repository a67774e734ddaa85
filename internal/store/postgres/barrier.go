package postgres

import (
	"context"
	"database/sql"
	"slices"
	"sync"
)

// Events get their numbers before they are committed, so a smaller number may appear
// after a greater one. A barrier tells when that can no longer happen.
//
// A writer has its transaction id before it draws a number. So if the greatest committed
// number is read first and an id is drawn after that, every writer with a number up to
// the first has an id below the second. Once a snapshot sees all transactions up to that
// id as ended (its xmin is greater), it sees all those events, or they will never exist.
//
// The last number drawn cannot replace the first: a server that crashes forgets
// uncommitted numbers and draws them again. The snapshot's own xmax cannot replace the
// id: it is one past the last transaction that has ended, and a writer in progress may be
// beyond it.
type barrier struct {
	seq int64 // the greatest committed number
	xid int64 // a transaction id drawn after seq was read
}

// maxBarriers limits the stored barriers: a long view needs one from before it started.
const maxBarriers = 64

// barriers are the barriers taken so far, in order.
type barriers struct {
	mu     sync.Mutex
	taken  []barrier
	passed int64 // the greatest seq known to be complete
}

// raise takes a barrier if events were committed since the last one, and reports whether
// it did. The connection must not be in a transaction.
func (b *barriers) raise(ctx context.Context, c *sql.Conn) (bool, error) {
	var next barrier
	var xmax int64
	const newest = `SELECT COALESCE((SELECT MAX(seq)
		FROM events), 0), pg_snapshot_xmax(pg_current_snapshot())::TEXT::BIGINT`
	if err := c.QueryRowContext(ctx, newest).Scan(&next.seq, &xmax); err != nil {
		return false, err
	}
	// A crashed server forgets ids without writes. The last barrier's id may then be in
	// the future, and waiting for it might take forever.
	if last := b.last(); next.seq <= last.seq && last.xid < xmax {
		return false, nil
	}
	if err := c.QueryRowContext(ctx, `SELECT pg_current_xact_id()::TEXT::BIGINT`).Scan(&next.xid); err != nil {
		return false, err
	}
	b.add(next)
	return true, nil
}

// add stores a barrier in the order of the numbers, and drops those that cover less and
// are passed no sooner.
func (b *barriers) add(next barrier) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken = slices.DeleteFunc(b.taken, func(t barrier) bool { return t.seq <= next.seq && t.xid >= next.xid })
	// Another one may have been taken meanwhile; each is valid by itself.
	if n := len(b.taken); n > 0 && b.taken[n-1].seq >= next.seq {
		return
	}
	b.taken = append(b.taken, next)
	if len(b.taken) > maxBarriers {
		b.taken = slices.Delete(b.taken, 0, 1)
	}
}

func (b *barriers) last() barrier {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.taken); n > 0 {
		return b.taken[n-1]
	}
	return barrier{}
}

// horizon returns the greatest seq whose barrier the connection's snapshot has passed, or
// 0.
func (b *barriers) horizon(ctx context.Context, c *sql.Conn) (int64, error) {
	var xmin int64
	const oldest = `SELECT pg_snapshot_xmin(pg_current_snapshot())::TEXT::BIGINT`
	if err := c.QueryRowContext(ctx, oldest).Scan(&xmin); err != nil {
		return 0, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range slices.Backward(b.taken) {
		if t.xid < xmin {
			return t.seq, nil
		}
	}
	return 0, nil
}

// look reports whether more events are complete than at the last look.
func (b *barriers) look(ctx context.Context, c *sql.Conn) (bool, error) {
	seq, err := b.horizon(ctx, c)
	if err != nil {
		return false, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if seq <= b.passed {
		return false, nil
	}
	b.passed = seq
	return true, nil
}

// behind reports whether some numbers were not complete at the last look.
func (b *barriers) behind() bool {
	last := b.last()
	b.mu.Lock()
	defer b.mu.Unlock()
	return last.seq > b.passed
}
