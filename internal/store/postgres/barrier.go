package postgres

import (
	"context"
	"database/sql"
	"slices"
	"sync"
)

// Events get their numbers before they are committed, so a smaller number may
// appear after a greater one. A barrier says when that is over.
//
// A writer has its transaction id before it draws a number. So when the greatest
// number that is committed is read first, and an id is drawn after that, every writer
// with a number up to the first has an id below the second. Once a snapshot sees all
// transactions up to that id as ended (its xmin is greater), it sees all those events,
// or they will never be.
//
// The last number drawn will not do for the first: a server that crashes forgets those
// that were not committed, and draws them again. Nor will the snapshot's own xmax for
// the id: it is one past the last transaction that has ended, and a writer in progress
// may be beyond it.
type barrier struct {
	seq int64 // the greatest number that is committed
	xid int64 // a transaction id drawn after it was read
}

// maxBarriers is how many are kept: a long view needs one of before it began.
const maxBarriers = 64

// barriers are those taken so far, in their order.
type barriers struct {
	mu     sync.Mutex
	taken  []barrier
	passed int64 // the greatest seq that a look has found complete
}

// raise takes a barrier if events were committed since the last one, and reports
// whether it did. The connection is in no transaction.
func (b *barriers) raise(ctx context.Context, c *sql.Conn) (bool, error) {
	var next barrier
	var xmax int64
	const newest = `SELECT COALESCE((SELECT MAX(seq)
		FROM events), 0), pg_snapshot_xmax(pg_current_snapshot())::TEXT::BIGINT`
	if err := c.QueryRowContext(ctx, newest).Scan(&next.seq, &xmax); err != nil {
		return false, err
	}
	// A server that crashed forgets ids that nothing was written with. The one of
	// the last barrier lies ahead again then, and waiting for it might take forever.
	if last := b.last(); next.seq <= last.seq && last.xid < xmax {
		return false, nil
	}
	if err := c.QueryRowContext(ctx, `SELECT pg_current_xact_id()::TEXT::BIGINT`).Scan(&next.xid); err != nil {
		return false, err
	}
	b.add(next)
	return true, nil
}

// add keeps a barrier, in the order of the numbers, and drops those that cover less
// and are passed no sooner.
func (b *barriers) add(next barrier) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken = slices.DeleteFunc(b.taken, func(t barrier) bool { return t.seq <= next.seq && t.xid >= next.xid })
	// Another one may have been taken meanwhile; each is true for itself.
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

// horizon returns the greatest seq whose barrier the snapshot of the connection has
// passed, 0 when it has passed none.
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

// behind reports whether there are numbers that were not complete at the last look.
func (b *barriers) behind() bool {
	last := b.last()
	b.mu.Lock()
	defer b.mu.Unlock()
	return last.seq > b.passed
}
