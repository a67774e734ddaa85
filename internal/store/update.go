package store

import (
	"context"
	"errors"
	"time"

	"github.com/umpirehq/umpire"
)

// The limits for repeating a transaction after a deadlock.
const (
	maxTries   = 10
	firstPause = 2 * time.Millisecond
)

// Update runs f in one transaction. When it returns nil, the changes are on disk. If f
// fails, Update returns its error unchanged and keeps no changes.
//
// f may run again if the database requests it, so it must start from scratch each time
// and have no other effects. It must not use the store itself or wait for a goroutine
// that does, because other updates wait for it.
func (s *Store) Update(ctx context.Context, f func(*Tx) error) error {
	if s.writer != nil {
		return s.writer.update(ctx, f)
	}
	pause := firstPause
	for try := 1; ; try++ {
		again, err := s.try(ctx, f)
		if !again || try == maxTries {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
		pause *= 2
	}
}

// try runs f in its own transaction, and reports whether it may run again.
func (s *Store) try(ctx context.Context, f func(*Tx) error) (again bool, err error) {
	c, err := s.pool.take(ctx)
	if err != nil {
		return false, s.unrecorded(ctx, err)
	}
	good := false
	defer func() { s.pool.give(c, good) }() // a panic closes the connection, and thus the transaction
	tx := newTx(transaction{ctx: ctx, store: s, conn: c, begin: s.dialect.BeginUpdate, writes: true})
	err = f(tx)
	if err == nil {
		err = tx.lost
	}
	opened := tx.open || len(tx.queue) > 0
	if err == nil {
		err = tx.commit()
	}
	switch {
	case err == nil:
		good = true
		if opened {
			s.committed(tx.pending)
		}
		return false, nil
	case tx.lost == errEnded: //nolint:errorlint // by the commit only
		return s.commitFailed(err)
	}
	again = tx.repeatable()
	good = tx.end("ROLLBACK") == nil && !again
	return again, err
}

// commitFailed distinguishes a refused commit from one with an unknown outcome.
func (s *Store) commitFailed(err error) (again bool, _ error) {
	switch s.dialect.Fault(err) {
	case FaultRetry:
		return true, umpire.Errorf("%s: %w: %w", s.dialect.Name, umpire.ErrNotRecorded, err)
	case FaultConflict:
		return false, umpire.Errorf("%s: %w: %w", s.dialect.Name, ErrConflict, err)
	case FaultLost:
		return false, umpire.Errorf("%s: %w: %w", s.dialect.Name, ErrUncertain, err)
	case FaultOther:
	}
	return false, umpire.Errorf("%s: %w: %w", s.dialect.Name, umpire.ErrNotRecorded, err)
}

// unrecorded returns the error of an update that could not start.
func (s *Store) unrecorded(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, ctx.Err()) {
		return umpire.Errorf("%s: %w", s.dialect.Name, cause)
	}
	return umpire.Errorf("%s: %w: %w", s.dialect.Name, umpire.ErrNotRecorded, err)
}

// committed wakes all goroutines that wait for changes.
func (s *Store) committed(pending bool) {
	s.herald.Committed(pending)
	s.bell.ring()
}
