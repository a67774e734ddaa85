package trial

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"

	"github.com/umpirehq/umpire/internal/sandbox"
)

// probesFolder holds, in umpire's state, a file for each folder that says whether trials can be
// had there.
const probesFolder = "probes"

// probeAge is how long that is remembered. What was in the way may be gone then.
const probeAge = 24 * time.Hour

// What a probe found.
const (
	probeWorks = "works"
	probeFails = "fails"
)

// Works reports whether commands of a project can be tried: as it was found lately, or else by
// trying one that does nothing, which takes some 20 ms. So no command of anybody's is the first.
func Works(ctx context.Context, place *sandbox.Place, state, root string, now time.Time) bool {
	file := probeFile(state, root)
	if info, err := os.Stat(file); err == nil && now.Sub(info.ModTime()) < probeAge {
		found, err := os.ReadFile(file)
		return err == nil && string(found) == probeWorks
	}
	// Without caches: their folders would be made, and true needs none.
	bare := &sandbox.Place{Workspace: place.Workspace, Home: place.Home, State: place.State, Show: place.Show}
	result, err := Run(ctx, Spec{
		Args: []string{"true"}, Dir: root, Env: os.Environ(), Place: bare, State: LayersIn(state),
	})
	if err == nil {
		err = result.Layer.Discard()
	}
	if ctx.Err() != nil {
		return false // nothing was found
	}
	found := probeWorks
	if err != nil {
		found = probeFails
	}
	return noteProbe(file, found) == nil && found == probeWorks
}

// NoteUnavailable remembers that no trial could be had in a project.
func NoteUnavailable(state, root string) error { return noteProbe(probeFile(state, root), probeFails) }

func noteProbe(file, found string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(found), 0o600)
}

func probeFile(state, root string) string {
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(state, probesFolder, hex.EncodeToString(sum[:8]))
}
