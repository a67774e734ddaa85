//go:build !linux

package trial

import (
	"context"
	"io/fs"
	"time"

	"github.com/umpirehq/umpire"
)

// This file stands in for trials and records, which need Linux.

// Run returns ErrUnavailable because this system does not support trials.
func Run(context.Context, Spec) (*Result, error) { return nil, ErrUnavailable }

// sweepLayers does nothing because this system has no layers.
func sweepLayers(string, func(string) bool, time.Time) error { return nil }

// Keep returns ErrUnavailable because this system has no layers.
func (l *Layer) Keep(context.Context, KeepSpec) (*Kept, error) { return nil, ErrUnavailable }

// Undo returns ErrNothingKept because this system has no records.
func Undo(context.Context, UndoSpec) (*Kept, error) { return nil, ErrNothingKept }

// Recover does nothing on this system.
func Recover(context.Context, string, Vault) error { return nil }

// FindUnfinished returns nil on this system.
func FindUnfinished(context.Context, string, Vault) ([]Unfinished, error) { return nil, nil }

// Forget returns ErrNothingKept because this system has no records.
func Forget(string, string) error { return ErrNothingKept }

// diskSize returns the file's size.
func diskSize(info fs.FileInfo) int64 { return info.Size() }

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

// Seal returns an empty Kept on this system.
func (r *Recording) Seal(context.Context) (*Kept, error) { return &Kept{}, nil }

// SealCall does nothing on this system.
func SealCall(context.Context, string, umpire.SessionID, umpire.CallID) error { return nil }

// Settle does nothing on this system.
func Settle(context.Context, string) error { return nil }
