//go:build !linux

package trial

import "context"

// A Recording is not to be had on this system.
type Recording struct{}

// Record says that no call is recorded on this system.
func Record(context.Context, RecordSpec) (*Recording, error) { return nil, ErrUnavailable }

// Expect has nothing to do on this system.
func (r *Recording) Expect(string, []byte) error { return nil }

// Seal has nothing to do on this system.
func (r *Recording) Seal(context.Context) (*Kept, error) { return &Kept{}, nil }
