package gate

import (
	"context"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// A transaction changes one session: it locks the session, reads the inputs of a decision, collects
// the consequences as an outcome, and writes them together with the session, or writes nothing.
// Sessions change in no other way.
type transaction struct {
	outcome

	backend *backend
	tx      *store.Tx
}

// step locks a session, runs f, and writes its outcome. An epoch other than 0 must match the
// session's: a runner that was replaced is fenced off. The store may run f again, so f starts from
// scratch each time. ahead prefetches the rows that f reads first.
func (be *backend) step(
	ctx context.Context, id umpire.SessionID, epoch int64, f func(*transaction) error, ahead ...func(*store.Tx),
) error {
	return be.update(ctx, func(tx *store.Tx) error {
		tx.Ahead(func() {
			_, _ = tx.Sessions.Lock(id)
			for _, read := range ahead {
				read(tx)
			}
		})
		s, err := tx.Sessions.Lock(id)
		if err != nil {
			return umpire.Errorf("session %q: %w", id, err)
		}
		if epoch != 0 && epoch != s.Epoch {
			return umpire.Errorf("session %q is at epoch %d, not %d: %w", id, s.Epoch, epoch, umpire.ErrFenced)
		}
		t := be.newTransaction(tx, s)
		if s.Permission == umpire.StateWaiting {
			t.blocked = s.Blocked
		}
		if err := f(t); err != nil {
			return err
		}
		return t.save()
	})
}

// newTransaction returns a transaction on a session that the caller has locked or just stored.
func (be *backend) newTransaction(tx *store.Tx, s umpire.Session) *transaction {
	return &transaction{backend: be, tx: tx, outcome: outcome{secrets: be.secrets, now: be.now(), session: s}}
}

// callAhead prefetches the rows for readCall.
func callAhead(s umpire.SessionID, id umpire.BatchID, call umpire.CallID) func(*store.Tx) {
	return func(tx *store.Tx) { _, _ = tx.Batches.GetAround(s, id, call) }
}

// readCall returns a call of a session, and its batch with the parts that events about the call use.
func readCall(
	tx *store.Tx, s umpire.SessionID, id umpire.BatchID, call umpire.CallID,
) (*umpire.Batch, *umpire.BatchCall, error) {
	b, err := tx.Batches.GetAround(s, id, call)
	if err != nil {
		return nil, nil, umpire.Errorf("batch %q: %w", id, err)
	}
	c := b.Call(call)
	if c == nil {
		return nil, nil, umpire.Errorf("call %q of batch %q: %w", call, id, umpire.ErrNotFound)
	}
	return &b, c, nil
}

// flush writes the collected rows, in order.
func (t *transaction) flush() error {
	for _, write := range t.writes {
		if err := write(t.tx); err != nil {
			return err
		}
	}
	t.writes = nil
	return nil
}

// save writes the outcome and the updated session.
func (t *transaction) save() error {
	if err := t.flush(); err != nil {
		return err
	}
	if err := t.restate(); err != nil {
		return err
	}
	if !t.quiet {
		t.session.ActiveAt = t.now
	}
	return t.tx.Sessions.Save(t.session)
}

// restate derives the session's state from its open batches. Deriving it each time
// leaves nothing behind that could go stale.
func (t *transaction) restate() error {
	if t.session.State == umpire.SessionOver {
		t.session.Pending, t.session.Permission, t.session.Blocked = 0, umpire.StateIdle, nil
		return nil
	}
	waiting, goesOn, err := t.tx.Batches.OpenWork(t.session.ID)
	if err != nil {
		return err
	}
	t.session.Pending = waiting
	switch {
	case waiting > 0:
		t.session.State, t.session.Permission, t.session.Blocked = umpire.SessionWaiting, umpire.StateWaiting, t.blocked
	case goesOn && !t.session.External:
		t.session.State = umpire.SessionGenerating
	case t.session.State == umpire.SessionWaiting:
		t.session.State = umpire.SessionIdle
	}
	if waiting == 0 && t.session.Permission == umpire.StateWaiting {
		t.session.Permission = umpire.StateIdle
	}
	return nil
}
