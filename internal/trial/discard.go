package trial

import (
	"os"
	"path/filepath"

	"github.com/umpirehq/umpire/internal/files"
)

// discardedSuffix marks a layer that is being removed. It is not one any more.
const discardedSuffix = ".discarded"

// Discard removes a layer with all that the trial wrote. Nothing must use it any more.
func (l *Layer) Discard() error { return removeLayer(l.Dir) }

// removeLayer removes the folder of a layer. From the first step on nobody takes it for a
// layer, so that one which is half removed is never kept.
func removeLayer(dir string) error {
	gone := filepath.Clean(dir) + discardedSuffix
	if err := os.Rename(dir, gone); err != nil && !files.Missing(err) {
		return err
	}
	return files.RemoveTree(gone)
}
