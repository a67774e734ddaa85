package trial

import (
	"os"
	"path/filepath"

	"github.com/umpirehq/umpire/internal/files"
)

// discardedSuffix marks a layer that is being removed and must not be used.
const discardedSuffix = ".discarded"

// Discard removes a layer and everything that the trial wrote. The layer must no longer be in use.
func (l *Layer) Discard() error { return removeLayer(l.Dir) }

// removeLayer removes the folder of a layer. It renames the folder first, because a
// half-removed layer must never be kept.
func removeLayer(dir string) error {
	gone := filepath.Clean(dir) + discardedSuffix
	if err := os.Rename(dir, gone); err != nil && !files.Missing(err) {
		return err
	}
	return files.RemoveTree(gone)
}
