package tool

import (
	"context"
	"errors"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/trial"
)

// recordCall remembers the files that a call is about to change, before it does.
func (s *Set) recordCall(ctx context.Context, u *use) (*trial.Recording, error) {
	c, changes := changers[u.call.Tool]
	if !changes || s.options.State == "" {
		return nil, nil
	}
	all, err := c.read(u.in)
	if err != nil {
		return nil, nil //nolint:nilerr // the tool reads it too, and says what is wrong
	}
	spec := trial.RecordSpec{
		State: s.options.State, Vault: s.options.Vault, Roots: append([]string{s.options.Root}, s.options.AddDirs...),
		Call: u.call.ID, Session: u.call.Session, Command: u.call.Tool,
	}
	for i := range all {
		path, err := s.options.decided(u, all[i].path, umpire.KindWrite)
		if err != nil {
			continue // nothing is written there
		}
		spec.Paths = append(spec.Paths, path)
		spec.Command += " " + all[i].path
	}
	if len(spec.Paths) == 0 {
		return nil, nil
	}
	r, err := trial.Record(ctx, spec)
	if errors.Is(err, trial.ErrUnavailable) {
		return nil, nil
	}
	return r, err
}
