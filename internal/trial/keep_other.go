//go:build !linux

package trial

import (
	"context"
	"io/fs"
)

// Keep is not to be had on this system: there are no layers.
func (l *Layer) Keep(context.Context, KeepSpec) (*Kept, error) { return nil, ErrUnavailable }

// Undo says that nothing was kept on this system.
func Undo(context.Context, UndoSpec) (*Kept, error) { return nil, ErrNothingKept }

// Recover has nothing to do on this system.
func Recover(context.Context, string, Vault) error { return nil }

// FindUnfinished finds nothing on this system.
func FindUnfinished(context.Context, string, Vault) ([]Unfinished, error) { return nil, nil }

// Forget says that nothing was kept on this system.
func Forget(string, string) error { return ErrNothingKept }

// diskSize is how large a file is.
func diskSize(info fs.FileInfo) int64 { return info.Size() }
