package gate

import (
	"context"
	"errors"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/project"
	"github.com/umpirehq/umpire/internal/store"
)

// A backend is shared by every part of a gate: the configuration, the store, the clock and the
// secrets.
type backend struct {
	secrets

	config Config
	store  *store.Store
	// crash is called at critical points; tests kill the process there.
	crash func(place string)
}

// update runs one transaction. If it fails, nothing is written.
func (be *backend) update(ctx context.Context, f func(*store.Tx) error) error {
	if be.store == nil {
		return errNoStore
	}
	return be.store.Update(ctx, f)
}

func (be *backend) view(ctx context.Context, f func(*store.Tx) error) error {
	if be.store == nil {
		return errNoStore
	}
	return be.store.View(ctx, f)
}

// readIn runs read in a view and returns its result.
func readIn[T any](
	ctx context.Context, view func(context.Context, func(*store.Tx) error) error, read func(*store.Tx) (T, error),
) (found T, err error) {
	err = view(ctx, func(tx *store.Tx) (err error) {
		found, err = read(tx)
		return err
	})
	return found, err
}

// viewForChange is a view that precedes a change. If the database fails here, nothing has been
// recorded.
func (be *backend) viewForChange(ctx context.Context, f func(*store.Tx) error) error {
	err := be.view(ctx, f)
	if err == nil || ctx.Err() != nil {
		return err
	}
	for _, found := range findings {
		if errors.Is(err, found) {
			return err
		}
	}
	return umpire.Errorf("%w: %w", umpire.ErrNotRecorded, err)
}

func (be *backend) readSession(ctx context.Context, id umpire.SessionID) (umpire.Session, error) {
	s, err := readIn(ctx, be.view, func(tx *store.Tx) (umpire.Session, error) { return tx.Sessions.Get(id) })
	if err != nil {
		return umpire.Session{}, umpire.Errorf("session %s: %w", project.PrintableID(id), err)
	}
	return s, nil
}

// findings are errors that report a state rather than a fault.
var findings = []error{
	umpire.ErrNotFound, umpire.ErrInvalid, umpire.ErrResolved, umpire.ErrState, umpire.ErrFenced,
	umpire.ErrOtherProject, umpire.ErrLimit, umpire.ErrChanged, umpire.ErrNeedsPerson,
}

var errNoStore = umpire.Errorf("this gate has no store: %w", umpire.ErrState)

// invalid returns an error about one field.
func invalid(field, format string, args ...any) error {
	return umpire.Errorf("%s: %w: %w", field, umpire.Errorf(format, args...), umpire.ErrInvalid)
}

// hasEnded reports whether a program has ended. It returns false for programs on other machines.
func (be *backend) hasEnded(runner string) bool {
	if be.config.Alive == nil {
		return false
	}
	alive, known := be.config.Alive(runner)
	return known && !alive
}

// now returns the time as stored: the databases keep microseconds.
func (be *backend) now() time.Time { return be.config.Now().UTC().Truncate(time.Microsecond) }

// isConflict reports whether a write lost against a concurrent one.
func isConflict(err error) bool { return errors.Is(err, store.ErrConflict) }

func ignoreGone(err error) error {
	if errors.Is(err, umpire.ErrNotFound) {
		return nil
	}
	return err
}

// reached marks a place where a crash leaves something to recover.
func (be *backend) reached(place string) {
	if be.crash != nil {
		be.crash(place)
	}
}
