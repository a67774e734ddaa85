package trial

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/umpirehq/umpire/internal/files"
)

// tidyEvery is how often what is past its time is removed, by whatever process comes first.
const tidyEvery = time.Hour

// tidiedFile in umpire's state was written when that was done last.
const tidiedFile = "tidied"

// heldAge is how long a trial waits for somebody to settle it.
const heldAge = 7 * 24 * time.Hour

// LayersIn is the folder of layers in umpire's state.
func LayersIn(state string) string { return filepath.Join(state, "trials") }

// TidyUp finishes what crashes have left, and removes what is past its time: what was kept for
// undoing beyond the limits, trials that nobody has settled, and layers of dead processes. It
// does nothing when that was done within the hour. It takes a while, so call it beside other work.
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

// tidyHeld discards the trials that nobody has settled for long, and removes what dead
// processes have left in the folder of layers.
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
