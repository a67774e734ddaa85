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
	batches map[umpire.BatchID]*folded
	quiet   bool            // nobody did anything in the session: time did
	ran     bool            // a call that ran got its result
	blocked *umpire.Blocked // by what the session waits, while it does
}

// A folded is a batch as it is stored, and as the events of this step make it.
type folded struct{ stored, now umpire.Batch }

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
		t := &step{gate: g, tx: tx, now: g.now(), session: s, batches: map[umpire.BatchID]*folded{}}
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

// batch returns a batch of the session for folding.
func (t *step) batch(id umpire.BatchID) (*folded, error) {
	if f, ok := t.batches[id]; ok {
		return f, nil
	}
	b, err := t.tx.Batch(t.session.ID, id)
	if err != nil {
		return nil, fmt.Errorf("batch %q: %w", id, err)
	}
	f := &folded{stored: b, now: b}
	t.batches[id] = f
	return f, nil
}

// open returns the session's open batches for folding.
func (t *step) open() ([]*folded, error) {
	open, err := t.tx.OpenBatches(t.session.ID)
	if err != nil {
		return nil, err
	}
	var all []*folded
	for _, b := range open {
		f, ok := t.batches[b.ID]
		if !ok {
			f = &folded{stored: b, now: b}
			t.batches[b.ID] = f
		}
		all = append(all, f)
	}
	return all, nil
}

// apply folds an event into a batch and appends it to the timeline.
func (t *step) apply(f *folded, e umpire.Event) error {
	e.Batch = f.now.ID
	e = t.fill(e)
	next, err := batch.Apply(f.now, e)
	if err != nil {
		return fmt.Errorf("%w: %w", err, umpire.ErrState)
	}
	f.now = next
	_, err = t.tx.Append(t.gate.masked(e))
	return err
}

// append puts an event that concerns no batch on the timeline.
func (t *step) append(e umpire.Event) error {
	_, err := t.tx.Append(t.gate.masked(t.fill(e)))
	return err
}

// fill completes what every event of the session bears.
func (t *step) fill(e umpire.Event) umpire.Event {
	e.At, e.Project, e.Session = t.now, t.session.Project, t.session.ID
	if e.Agent == "" {
		e.Agent = t.session.Agent
	}
	return e
}

// save stores the batches and the session as the events made them.
func (t *step) save() error {
	for _, f := range t.batches {
		if err := t.tx.SaveBatch(f.stored, f.now); err != nil {
			return err
		}
	}
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
func (t *step) settle(f *folded) error {
	if f.now.State == umpire.BatchWaiting && f.now.Waiting() == 0 && !f.now.Cancelled {
		e := umpire.Event{Kind: umpire.EventBatchResumed, Data: data(batch.Resumed{Epoch: f.now.Resumes + 1})}
		if err := t.apply(f, e); err != nil {
			return err
		}
	}
	open := f.now.State == umpire.BatchRunning || f.now.State == umpire.BatchWaiting && f.now.Cancelled
	if !open || f.now.Next() != nil {
		return nil
	}
	if err := t.apply(f, umpire.Event{Kind: umpire.EventBatchFinished}); err != nil || !t.session.External {
		return err
	}
	// Such an agent has its results already: it ran the calls, or was told no.
	return t.deliver(f)
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
