//go:build !linux

package trial

import (
	"context"

	"github.com/umpirehq/umpire"
)

// A Recording is not to be had on this system.
type Recording struct{}

// Record says that no call is recorded on this system.
func Record(context.Context, RecordSpec) (*Recording, error) { return nil, ErrUnavailable }

// Expect has nothing to do on this system.
func (r *Recording) Expect(string, []byte) error { return nil }

// Text is not known on this system.
func (r *Recording) Text(string) []byte { return nil }

// Leave has nothing to do on this system.
func (r *Recording) Leave() {}

// SealCall has nothing to seal on this system.
func SealCall(context.Context, string, umpire.SessionID, umpire.CallID) error { return nil }

// Settle has nothing to seal on this system.
func Settle(context.Context, string) error { return nil }

// Seal has nothing to do on this system.
func (r *Recording) Seal(context.Context) (*Kept, error) { return &Kept{}, nil }
