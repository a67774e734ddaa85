package trial

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/umpirehq/umpire/internal/files"
)

// tidyEvery is the interval at which the first process to notice removes expired data.
const tidyEvery = time.Hour

// tidiedFile in umpire's state records the time of the last cleanup.
const tidiedFile = "tidied"

// heldAge is how long a trial waits to be kept or discarded.
const heldAge = 7 * 24 * time.Hour

// LayersIn returns the folder of layers in umpire's state.
func LayersIn(state string) string { return filepath.Join(state, "trials") }

// TidyUp completes work that crashes interrupted, and removes expired data: undo records
// beyond the limits, abandoned trials, and layers of dead processes. It does nothing if
// it ran within the last hour. It takes a while, so run it in the background.
func TidyUp(ctx context.Context, state string, limits UndoLimits, vault Vault, now time.Time) error {
	stamp := filepath.Join(state, tidiedFile)
	if info, err := os.Stat(stamp); err == nil && now.Sub(info.ModTime()).Abs() < tidyEvery {
		return nil
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return err
	}
	if err := files.Replace(stamp, nil, 0o600); err != nil {
		return err
	}
	return errors.Join(Recover(ctx, state, vault), collect(state, limits, now), tidyHeld(state, LayersIn(state), now))
}

// tidyHeld discards abandoned trials, and removes leftovers of dead processes in the
// folder of layers.
func tidyHeld(state, layers string, now time.Time) error {
	all, err := HeldTrials(state)
	if err != nil {
		return err
	}
	held := map[string]bool{}
	for i := range all {
		h := &all[i]
		if now.Sub(h.Time) < heldAge {
			held[h.ID] = true
			continue
		}
		err = errors.Join(err, h.Discard(state))
	}
	return errors.Join(err, sweepLayers(layers, func(id string) bool { return held[id] }, now))
}
