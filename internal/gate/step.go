package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/batch"
	"github.com/umpirehq/umpire/internal/store"
)

// A step is one transaction on one session: events are folded into its batches,
// and the new state is stored with them or not at all. It is the only way in which
// a session changes.
type step struct {
	gate    *Gate
	tx      *store.Tx
	now     time.Time
	session umpire.Session
	quiet   bool            // nobody did anything in the session: time did
	ran     bool            // a call that ran got its result
	blocked *umpire.Blocked // by what the session waits, while it does
}

// step locks a session, runs f, and stores what it did. An epoch other than 0 must
// be the session's own: a runner that was replaced is fenced off. The store may
// run f again, so f starts anew each time.
func (g *Gate) step(ctx context.Context, id umpire.SessionID, epoch int64, f func(*step) error) error {
	return g.update(ctx, func(tx *store.Tx) error {
		s, err := tx.LockSession(id)
		if err != nil {
			return fmt.Errorf("session %q: %w", id, err)
		}
		if epoch != 0 && epoch != s.Epoch {
			return fmt.Errorf("session %q is at epoch %d, not %d: %w", id, s.Epoch, epoch, umpire.ErrFenced)
		}
		t := &step{gate: g, tx: tx, now: g.now(), session: s}
		if s.Permission == umpire.StateWaiting {
			t.blocked = s.Blocked
		}
		if err := f(t); err != nil {
			return err
		}
		return t.save()
	})
}

// update runs one transaction. What cannot be kept did not happen, and says so.
func (g *Gate) update(ctx context.Context, f func(*store.Tx) error) error {
	if g.store == nil {
		return errNoStore
	}
	return g.store.Update(ctx, f)
}

func (g *Gate) view(ctx context.Context, f func(*store.Tx) error) error {
	if g.store == nil {
		return errNoStore
	}
	return g.store.View(ctx, f)
}

// peek is a view for somebody who is about to change what they see. When the database
// fails there, nothing was recorded.
func (g *Gate) peek(ctx context.Context, f func(*store.Tx) error) error {
	err := g.view(ctx, f)
	if err == nil || ctx.Err() != nil {
		return err
	}
	for _, found := range findings {
		if errors.Is(err, found) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", umpire.ErrNotRecorded, err)
}

// findings are the errors that tell how things stand.
var findings = []error{
	umpire.ErrNotFound, umpire.ErrInvalid, umpire.ErrResolved, umpire.ErrState, umpire.ErrFenced, umpire.ErrOtherProject, umpire.ErrLimit, umpire.ErrChanged, umpire.ErrNeedsPerson,
}

var errNoStore = fmt.Errorf("this gate has no store: %w", umpire.ErrState)

// now is the time as it is stored: the databases keep microseconds.
func (g *Gate) now() time.Time { return g.config.Now().UTC().Truncate(time.Microsecond) }

// batch returns a batch of the session.
func (t *step) batch(id umpire.BatchID) (*umpire.Batch, error) {
	b, err := t.tx.Batch(t.session.ID, id)
	if err != nil {
		return nil, fmt.Errorf("batch %q: %w", id, err)
	}
	return &b, nil
}

// apply stores an event that moves a batch, with the state that it makes.
func (t *step) apply(b *umpire.Batch, e umpire.Event, detail batch.Detail) error {
	e.Batch = b.ID
	return ifIllegal(t.tx.Apply(b, batch.Event{Event: t.record(e, detail), Detail: detail}))
}

// ifIllegal marks the error of an event that does not fit as one about how things stand.
func ifIllegal(err error) error {
	if errors.Is(err, batch.ErrIllegal) {
		return fmt.Errorf("%w: %w", err, umpire.ErrState)
	}
	return err
}

// append puts an event on the timeline that moves no batch.
func (t *step) append(e umpire.Event, detail any) error {
	_, err := t.tx.Append(t.record(e, detail))
	return err
}

// record is an event as the timeline keeps it: with the fields that every event of the
// session has, its detail as JSON, and secrets masked.
func (t *step) record(e umpire.Event, detail any) umpire.Event {
	e.At, e.Project, e.Session = t.now, t.session.Project, t.session.ID
	if e.Agent == "" {
		e.Agent = t.session.Agent
	}
	return t.gate.record(e, detail)
}

// record writes the detail of an event as JSON, and masks secrets in all of it.
func (g *Gate) record(e umpire.Event, detail any) umpire.Event {
	if detail != nil {
		e.Data = data(detail)
	}
	return g.masked(e)
}

// save stores the session as the events made it.
func (t *step) save() error {
	if err := t.restate(); err != nil {
		return err
	}
	if !t.quiet {
		t.session.ActiveAt = t.now
	}
	return t.tx.SaveSession(t.session)
}

// restate derives the session's state from its open batches. Deriving it each time
// leaves nothing behind that could go stale.
func (t *step) restate() error {
	if t.session.State == umpire.SessionOver {
		t.session.Pending, t.session.Permission, t.session.Blocked = 0, umpire.StateIdle, nil
		return nil
	}
	waiting, goesOn, err := t.tx.OpenWork(t.session.ID)
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

// settle lets a batch go on as far as its calls permit: it resumes when nothing
// waits any more, and is finished when every call has its result.
func (t *step) settle(b *umpire.Batch) error {
	if b.State == umpire.BatchWaiting && b.Waiting() == 0 && !b.Cancelled {
		resumed := batch.Resumed{Epoch: b.Resumes + 1}
		if err := t.apply(b, umpire.Event{Kind: umpire.EventBatchResumed}, resumed); err != nil {
			return err
		}
	}
	open := b.State == umpire.BatchRunning || b.State == umpire.BatchWaiting && b.Cancelled
	if !open || b.Next() != nil {
		return nil
	}
	if err := t.apply(b, umpire.Event{Kind: umpire.EventBatchFinished}, nil); err != nil || !t.session.External {
		return err
	}
	// Such an agent has its results already: it ran the calls, or was told no.
	return t.deliver(b)
}

// data writes the data of an event. Its types cannot fail to be written.
func data(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("event data %T: %v", v, err))
	}
	return text
}

// isConflict reports whether a write lost against another one.
func isConflict(err error) bool { return errors.Is(err, store.ErrConflict) }
