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

// A Store is a database that is open. It is safe for concurrent use.
type Store struct {
	dialect *Dialect
	db      *sql.DB
	herald  Herald
	pool    *pool
	writer  *writer // nil where updates have transactions of their own
	bell    bell

	stop   context.CancelFunc
	done   sync.WaitGroup
	closed func() error
}

// New brings the schema of a database up to date and opens it. The store owns db
// from then on, also when it fails.
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

// Close waits for the transactions that have begun and closes the database. Later
// calls fail.
func (s *Store) Close() error { return s.closed() }

func (s *Store) close() error {
	s.stop()
	s.done.Wait()
	err := s.pool.close()
	s.bell.ring()
	return errors.Join(err, s.db.Close())
}

// View runs f in one snapshot of the database, in which f only reads. The error of
// f is returned as it is.
//
// f may be run again when the connection turns out to be lost before it could read
// anything.
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
		giveBack := func() { s.pool.give(c, tx.end("ROLLBACK") == nil && !again) } // after a panic too
		if tx.pipelined() {
			go giveBack() // nobody has to wait for the answer
		} else {
			giveBack()
		}
	}()
	return false, f(tx)
}

// Changed returns a channel that is closed when something may have been
// committed since the call, here or by another process. Close closes it too.
func (s *Store) Changed() <-chan struct{} { return s.bell.wait() }

// A bell wakes everybody who waits, at once.
type bell struct {
	mu      sync.Mutex
	waiting chan struct{} // nil when nobody waits
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

// endTime bounds the end of a transaction, which its caller does not cut short.
const endTime = 30 * time.Second

// lasting returns a context for what must be brought to its end.
func lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), endTime)
}
