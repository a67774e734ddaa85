package trial

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"
)

// unavailableFolder holds, in umpire's state, a file for each folder in which no trial could be
// had.
const unavailableFolder = "untried"

// unavailableAge is how long that is remembered. What was in the way may be gone then.
const unavailableAge = 24 * time.Hour

// NoteUnavailable remembers that no trial could be had in a project.
func NoteUnavailable(state, root string) error {
	file := unavailableFile(state, root)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, nil, 0o600)
}

// WasUnavailable reports whether no trial could be had in a project a while ago.
func WasUnavailable(state, root string, now time.Time) bool {
	info, err := os.Stat(unavailableFile(state, root))
	return err == nil && now.Sub(info.ModTime()) < unavailableAge
}

func unavailableFile(state, root string) string {
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(state, unavailableFolder, hex.EncodeToString(sum[:8]))
}
