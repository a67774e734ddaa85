package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
)

var (
	errClosed = errors.New("the store is closed")
	errBad    = driver.ErrBadConn
)

// A Store is an open database. It is safe for concurrent use.
type Store struct {
	dialect *Dialect
	db      *sql.DB
	herald  Herald
	pool    *pool
	writer  *writer // nil if updates have their own transactions
	bell    bell

	stop   context.CancelFunc
	done   sync.WaitGroup
	closed func() error
}

// New updates the schema of a database and opens the store. The store owns db from then
// on, even if New fails.
func New(ctx context.Context, db *sql.DB, d Dialect) (*Store, error) {
	if err := migrate(ctx, db, &d); err != nil {
		return nil, errors.Join(umpire.Errorf("%s: %w", d.Name, err), db.Close())
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	s := &Store{dialect: &d, db: db, herald: d.Herald(db), pool: newPool(db, &d), stop: stop}
	s.closed = sync.OnceValue(s.close)
	if d.Group {
		s.writer = newWriter(s)
		s.done.Go(func() { s.writer.run(running) })
	}
	s.done.Go(func() { s.herald.Run(running, s.bell.ring) })
	return s, nil
}

// Close waits for running transactions and closes the database. Later calls fail.
func (s *Store) Close() error { return s.closed() }

func (s *Store) close() error {
	s.stop()
	s.done.Wait()
	err := s.pool.close()
	s.bell.ring()
	return errors.Join(err, s.db.Close())
}

// View runs f in one snapshot of the database, in which f only reads. It returns the
// error of f unchanged.
//
// f may run again if the connection was lost before it could read anything.
func (s *Store) View(ctx context.Context, f func(*Tx) error) error {
	for try := 1; ; try++ {
		if again, err := s.view(ctx, f); !again || try == maxTries {
			return err
		}
	}
}

func (s *Store) view(ctx context.Context, f func(*Tx) error) (again bool, err error) {
	c, err := s.pool.take(ctx)
	if err != nil {
		return false, umpire.Errorf("%s: %w", s.dialect.Name, err)
	}
	tx := newTx(transaction{ctx: ctx, store: s, conn: c, begin: s.dialect.BeginView})
	defer func() {
		again = tx.repeatable() && err != nil
		giveBack := func() { s.pool.give(c, tx.end("ROLLBACK") == nil && !again) } // even after a panic
		if tx.pipelined() {
			go giveBack() // the caller need not wait for the answer
		} else {
			giveBack()
		}
	}()
	return false, f(tx)
}

// Changed returns a channel that is closed when this or another process may have
// committed something since the call. Close closes it too.
func (s *Store) Changed() <-chan struct{} { return s.bell.wait() }

// A bell wakes all waiting goroutines at once.
type bell struct {
	mu      sync.Mutex
	waiting chan struct{} // nil if no goroutine waits
}

func (b *bell) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting == nil {
		b.waiting = make(chan struct{})
	}
	return b.waiting
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting != nil {
		close(b.waiting)
		b.waiting = nil
	}
}

// endTime limits the end of a transaction, which its caller cannot interrupt.
const endTime = 30 * time.Second

// lasting returns a context for operations that must be completed.
func lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), endTime)
}
