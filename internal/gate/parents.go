package gate

import (
	"context"
	"errors"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// A sub-agent's session has a parent, and is never looser than it: its calls are decided in the
// parent's current mode. A person who tightens or ends the parent does the same to its sub-agents.

// inheritParent adapts an opening to a session below its parent.
func (ss *sessions) inheritParent(ctx context.Context, o *umpire.Opening) error {
	if o.Parent == "" {
		return nil
	}
	parent, err := ss.readSession(ctx, o.Parent)
	if err != nil {
		return umpire.Errorf("parent: %w", err)
	}
	if err := checkAlive(&parent); err != nil {
		return err
	}
	if o.Mode != nil && *o.Mode != parent.Mode {
		return errOwnMode
	}
	o.Mode, o.AllowBypass = &parent.Mode, parent.AllowBypass
	o.AddDirs, o.Headless = parent.AddDirs, o.Headless || parent.Headless
	return nil
}

// errOwnMode rejects a mode switch of a sub-agent alone.
var errOwnMode = invalid("mode", "a sub-agent has the mode of its parent: switch the parent's mode")

// checkParent rejects a session in another project than its parent's.
func checkParent(tx *store.Tx, s *umpire.Session) error {
	if s.Parent == "" {
		return nil
	}
	parent, err := tx.Sessions.Get(s.Parent)
	if err != nil {
		return umpire.Errorf("parent %q: %w", s.Parent, err)
	}
	if parent.Project != s.Project {
		return umpire.Errorf("session %q, the parent: %w", s.Parent, umpire.ErrOtherProject)
	}
	return checkAlive(&parent)
}

// checkAlive rejects a parent that has ended: its sub-agents ended with it.
func checkAlive(parent *umpire.Session) error {
	if parent.State == umpire.SessionOver {
		return umpire.Errorf("session %q, the parent, has ended: %w", parent.ID, umpire.ErrState)
	}
	return nil
}

// inherit makes a sub-agent's session as strict as its parent currently is.
func inherit(tx *store.Tx, s *umpire.Session) error {
	if s.Parent == "" {
		return nil
	}
	parent, err := tx.Sessions.Get(s.Parent)
	if errors.Is(err, umpire.ErrNotFound) {
		return umpire.Errorf("session %q, the parent of %q, is gone: %w", s.Parent, s.ID, umpire.ErrState)
	}
	if err != nil {
		return err
	}
	if err := checkAlive(&parent); err != nil {
		return err
	}
	s.Mode, s.AllowBypass = parent.Mode, s.AllowBypass && parent.AllowBypass
	s.Headless = s.Headless || parent.Headless
	s.Denials, s.DenialsInRow = max(s.Denials, parent.Denials), max(s.DenialsInRow, parent.DenialsInRow)
	return nil
}
