package store

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/umpirehq/umpire"
)

// The limits of a group of updates.
const (
	maxQueued = 256
	maxGroup  = 128
)

// A writer is the only goroutine that writes. It runs waiting updates in one transaction,
// each in its own savepoint, commits them together, and only then reports their outcomes.
// The functions themselves run in their callers' goroutines.
type writer struct {
	store *Store
	queue chan *update
	ended chan struct{}
	conn  *conn // nil until the first update, and after a failure
}

// An update waits for its turn, and then for the commit.
type update struct {
	ctx     context.Context //nolint:containedctx // it waits in a queue together with its caller
	claimed atomic.Bool     // by the writer, or by a caller that gave up
	turn    chan *Tx
	ran     chan error // the function's error
	outcome chan error // the result for the caller
}

// errLeft is the outcome of a function that did not return.
var errLeft = errors.New("the update's function did not return")

func newWriter(s *Store) *writer {
	return &writer{store: s, queue: make(chan *update, maxQueued), ended: make(chan struct{})}
}

// update hands f to the writer and waits for its outcome.
func (w *writer) update(ctx context.Context, f func(*Tx) error) error {
	u := &update{ctx: ctx, turn: make(chan *Tx, 1), ran: make(chan error, 1), outcome: make(chan error, 1)}
	select {
	case w.queue <- u:
	case <-ctx.Done():
		return w.store.unrecorded(ctx, ctx.Err())
	case <-w.ended:
		return w.store.unrecorded(ctx, errClosed)
	}
	select {
	case tx := <-u.turn:
		return u.run(tx, f)
	case err := <-u.outcome:
		return err
	case <-ctx.Done():
		if u.claimed.CompareAndSwap(false, true) {
			return w.store.unrecorded(ctx, ctx.Err())
		}
	case <-w.ended:
		if u.claimed.CompareAndSwap(false, true) {
			return w.store.unrecorded(ctx, errClosed)
		}
	}
	// The writer has claimed the update.
	select {
	case tx := <-u.turn:
		return u.run(tx, f)
	case err := <-u.outcome:
		return err
	}
}

// run runs f in its turn. It ends the turn even if f panics or exits its goroutine.
func (u *update) run(tx *Tx, f func(*Tx) error) (err error) {
	returned := false
	defer func() {
		if !returned {
			u.ran <- errLeft
			err = <-u.outcome // there is no caller to report to
		}
	}()
	err = f(tx)
	returned = true
	u.ran <- err
	return <-u.outcome
}

// run serves updates until ctx ends.
func (w *writer) run(ctx context.Context) {
	defer close(w.ended)
	defer func() {
		if w.conn != nil {
			_ = w.conn.close() // nothing is in progress on it
		}
	}()
	for {
		select {
		case u := <-w.queue:
			if u.claimed.CompareAndSwap(false, true) {
				w.group(ctx, u)
			}
		case <-ctx.Done():
			return
		}
	}
}

// next returns another waiting update, or nil.
func (w *writer) next() *update {
	for {
		select {
		case u := <-w.queue:
			if u.claimed.CompareAndSwap(false, true) {
				return u
			}
		default:
			return nil
		}
	}
}

// group runs an update and the waiting ones in one transaction.
func (w *writer) group(ctx context.Context, first *update) {
	g := &group{writer: w}
	work := context.WithoutCancel(ctx) // a started group is always completed
	var err error
	for u := first; u != nil; u = w.next() {
		g.members = append(g.members, u)
		if err == nil {
			err = g.give(work, u)
		}
		if len(g.members) == maxGroup {
			break
		}
	}
	switch {
	case err == nil && g.kept > 0:
		err = g.commit(work)
	case g.open:
		w.rollback(work)
	}
	g.answer(err)
}

// begin opens the transaction, and a connection if there is none.
func (w *writer) begin(ctx context.Context) error {
	if w.conn == nil {
		c, err := newConn(ctx, w.store.db, w.store.dialect)
		if err != nil {
			return err
		}
		w.conn = c
	}
	return w.conn.run(ctx, w.store.dialect.BeginUpdate)
}

// rollback rolls the transaction back, unless the database already has. It drops a
// connection where both fail.
func (w *writer) rollback(ctx context.Context) {
	_ = w.conn.run(ctx, "ROLLBACK") // fails if the database has already rolled back
	if w.conn.run(ctx, "BEGIN") == nil && w.conn.run(ctx, "ROLLBACK") == nil {
		return
	}
	w.conn.drop()
	w.conn = nil
}

// A group is the set of updates in one transaction.
type group struct {
	writer   *writer
	members  []*update
	outcomes []error
	open     bool
	kept     int
	pending  bool
}

// give runs an update, and keeps or undoes its changes. An error means that the whole
// transaction is lost.
func (g *group) give(ctx context.Context, u *update) error {
	if err := g.begin(ctx); err != nil {
		return err
	}
	tx := newTx(transaction{
		ctx: u.ctx, store: g.writer.store, conn: g.writer.conn, writes: true, grouped: true,
	})
	u.turn <- tx
	err := <-u.ran
	if err == nil {
		err = tx.lost
	}
	tx.lost = errEnded
	g.outcomes = append(g.outcomes, err)
	if err != nil {
		return g.takeBack(ctx)
	}
	g.kept++
	g.pending = g.pending || tx.pending
	if g.kept == 1 {
		return nil
	}
	return g.writer.conn.run(ctx, "RELEASE member")
}

// begin starts a member's part: the transaction, or a savepoint once it has kept changes.
func (g *group) begin(ctx context.Context) error {
	if g.kept > 0 {
		return g.writer.conn.run(ctx, "SAVEPOINT member")
	}
	if err := g.writer.begin(ctx); err != nil {
		return err
	}
	g.open = true
	return nil
}

// takeBack undoes a member's changes.
func (g *group) takeBack(ctx context.Context) error {
	c := g.writer.conn
	if g.kept == 0 {
		if err := c.run(ctx, "ROLLBACK"); err != nil {
			return err
		}
		g.open = false
		return nil
	}
	if err := c.run(ctx, "ROLLBACK TO member"); err != nil {
		return err
	}
	return c.run(ctx, "RELEASE member")
}

// commit makes the group durable. A failed commit may remain in the log, where recovery
// after a crash would find it. The next commit overwrites it, so a reported failure stays
// a failure.
func (g *group) commit(ctx context.Context) error {
	w := g.writer
	err := w.conn.run(ctx, "COMMIT")
	if err == nil {
		return nil
	}
	w.rollback(ctx)
	if again := w.overwrite(ctx); again != nil {
		return umpire.Errorf("%w: %w: %w", ErrUncertain, err, again)
	}
	return err
}

func (w *writer) overwrite(ctx context.Context) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	err := w.conn.run(ctx, "UPDATE failed_commits SET n = n + 1")
	if err == nil {
		err = w.conn.run(ctx, "COMMIT")
	}
	if err != nil {
		w.rollback(ctx)
	}
	return err
}

// answer reports the outcome to every caller. If the transaction was lost, so are the
// results that functions saw in it, unless nothing was kept before.
func (g *group) answer(err error) {
	s := g.writer.store
	if err == nil && g.kept > 0 {
		s.committed(g.pending)
	}
	for i, u := range g.members {
		if i < len(g.outcomes) && (err == nil || g.kept == 0 && g.outcomes[i] != nil) {
			u.outcome <- g.outcomes[i]
			continue
		}
		u.outcome <- umpire.Errorf("%s: %w: %w", s.dialect.Name, umpire.ErrNotRecorded, err)
	}
}
