//go:build !linux

package trial

import (
	"context"

	"github.com/umpirehq/umpire"
)

// A Recording is not available on this system.
type Recording struct{}

// Record returns ErrUnavailable because this system does not record calls.
func Record(context.Context, RecordSpec) (*Recording, error) { return nil, ErrUnavailable }

// Expect does nothing on this system.
func (r *Recording) Expect(string, []byte) error { return nil }

// Text returns nil on this system.
func (r *Recording) Text(string) []byte { return nil }

// Leave does nothing on this system.
func (r *Recording) Leave() {}

// SealCall does nothing on this system.
func SealCall(context.Context, string, umpire.SessionID, umpire.CallID) error { return nil }

// Settle does nothing on this system.
func Settle(context.Context, string) error { return nil }

// Seal returns an empty Kept on this system.
func (r *Recording) Seal(context.Context) (*Kept, error) { return &Kept{}, nil }
