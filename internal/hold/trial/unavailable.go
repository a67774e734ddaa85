package trial

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"

	"github.com/umpirehq/umpire/internal/hold/sandbox"
)

// probesFolder is in umpire's state. It has a file for each folder that records whether
// trials are available there.
const probesFolder = "probes"

// probeAge is how long that result is used. The obstacle may be gone afterwards.
const probeAge = 24 * time.Hour

// The results of a probe.
const (
	probeWorks = "works"
	probeFails = "fails"
)

// Works reports whether commands of a project can be tried. It uses a recent result, or tries a
// command that does nothing, which takes about 20 ms. So the first trial is never a user's command.
func Works(ctx context.Context, place *sandbox.Place, state, root string, now time.Time) bool {
	file := probeFile(state, root)
	if info, err := os.Stat(file); err == nil && now.Sub(info.ModTime()) < probeAge {
		found, err := os.ReadFile(file)
		return err == nil && string(found) == probeWorks
	}
	// Omit the caches: their folders would be created, and the command does not need any.
	bare := &sandbox.Place{Workspace: place.Workspace, Home: place.Home, State: place.State, Show: place.Show}
	result, err := Run(ctx, Spec{
		Args: []string{"true"}, Dir: root, Env: os.Environ(), Place: bare, State: LayersIn(state),
	})
	if err == nil {
		err = result.Layer.Discard()
	}
	if ctx.Err() != nil {
		return false // inconclusive
	}
	found := probeWorks
	if err != nil {
		found = probeFails
	}
	return noteProbe(file, found) == nil && found == probeWorks
}

// NoteUnavailable remembers that no trial was possible in a project.
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
