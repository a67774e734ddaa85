//go:build !linux

package trial

import (
	"context"
	"io/fs"
)

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
