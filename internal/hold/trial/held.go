package trial

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// A Held is a trial that waits to be kept or discarded.
type Held struct {
	ID      string    `json:"id"`
	Time    time.Time `json:"time"`
	Command string    `json:"command"`
	Root    string    `json:"root"` // of the project
	// Call and Session identify the tried call, if any. Trial and Batch identify its
	// trial in a gate's records.
	Call    umpire.CallID    `json:"call,omitempty"`
	Session umpire.SessionID `json:"session,omitempty"`
	Batch   umpire.BatchID   `json:"batch,omitempty"`
	Trial   umpire.TrialID   `json:"trial,omitempty"`
	Exit    int              `json:"exit"`
	// Network reports whether a person approved destinations for the command.
	Network bool  `json:"network,omitempty"`
	Layer   Layer `json:"layer"`
	// Effects are the effects that were shown and will be kept.
	Effects Effects `json:"effects"`
}

// heldFolder is the folder in umpire's state with one file per waiting trial.
const heldFolder = "held"

// heldSuffix is the extension of these files.
const heldSuffix = ".json"

// Hold stores a trial so it can be kept or discarded later.
func Hold(state string, h *Held) error {
	data, err := encodePaths(h)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(state, heldFolder), 0o700); err != nil {
		return err
	}
	return files.Replace(heldFile(state, h.ID), data, 0o600)
}

// Keep applies a waiting trial completely or not at all: see [Layer.Keep]. It sets the
// spec's Shown, Command, Call, Session and Trial itself.
func (h *Held) Keep(ctx context.Context, spec KeepSpec) (*Kept, error) {
	spec.Shown, spec.Command, spec.Call, spec.Session, spec.Trial = &h.Effects, h.Command, h.Call, h.Session, h.Trial
	kept, err := h.Layer.Keep(ctx, spec)
	if err != nil {
		return nil, err
	}
	return kept, release(spec.State, h.ID)
}

// Discard removes a waiting trial and its layer. If the trial changed something, no later
// trial sees its caches, and the discard is reported unless a gate knows the trial.
func (h *Held) Discard(state string) (err error) {
	if !h.Effects.IsEmpty() {
		err = dropCache(filepath.Dir(h.Layer.Dir), h.Layer.Caches)
	}
	if h.Trial == "" && !h.Effects.IsEmpty() {
		return errors.Join(err, h.discardReported(state))
	}
	return errors.Join(err, h.Layer.Discard(), release(state, h.ID))
}

// release forgets a waiting trial after it was kept or discarded.
func release(state, id string) error { return files.IgnoreMissing(os.Remove(heldFile(state, id))) }

func heldFile(state, id string) string { return filepath.Join(state, heldFolder, id+heldSuffix) }

// HeldTrials lists the waiting trials, latest first. Trials whose layer is gone are
// forgotten.
func HeldTrials(state string) ([]Held, error) {
	var all []Held
	names, err := heldNames(state)
	if err != nil {
		return nil, err
	}
	for _, id := range names {
		h, err := readHeld(heldFile(state, id))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was released meanwhile
		}
		if err != nil {
			return nil, err
		}
		if !files.Exists(h.Layer.Dir, stampFile) {
			if err := release(state, id); err != nil {
				return nil, err
			}
			continue
		}
		all = append(all, *h)
	}
	slices.SortFunc(all, func(a, b Held) int { return b.Time.Compare(a.Time) })
	return all, nil
}

// heldNames returns the ids of the waiting trials.
func heldNames(state string) (names []string, err error) {
	entries, err := os.ReadDir(filepath.Join(state, heldFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if id, ours := strings.CutSuffix(e.Name(), heldSuffix); ours {
			names = append(names, id)
		}
	}
	return names, nil
}

func readHeld(file string) (*Held, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	h := &Held{}
	if err := decodePaths(data, h); err != nil {
		return nil, umpire.Errorf("read %q: %w", file, err)
	}
	return h, nil
}

// Contents returns a file's content before and after an effect, or nil if it does not
// exist or is larger than limit. It is only for display; Keep checks the digest.
func (l *Layer) Contents(e *Effect, limit int64) (before, after []byte, err error) {
	for _, r := range l.Roots {
		if files.Within(r.Lower, e.Path) {
			from := e.Path
			if e.From != "" {
				from = e.From
			}
			before, err = readPart(r.Lower, strings.TrimPrefix(from, r.Lower), &e.Before, limit)
			if err != nil {
				return nil, nil, err
			}
			after, err = readPart(r.Upper, strings.TrimPrefix(e.Path, r.Lower), &e.After, limit)
			return before, after, err
		}
	}
	return nil, nil, umpire.Errorf("%s is not in a folder of the trial", e.Path)
}

// readPart reads a regular file below a folder without following links out of it.
func readPart(folder, path string, e *Entry, limit int64) ([]byte, error) {
	if !e.Exists() || !e.Type.IsRegular() || e.Size > limit {
		return nil, nil
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.Open(strings.TrimPrefix(path, "/"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit))
	return append([]byte{}, data...), err
}

// LeadsOut reports whether an effect creates a symbolic link out of the trial's folders,
// because later writes through it would land elsewhere.
func (l *Layer) LeadsOut(e *Effect) bool {
	if e.After.Type&fs.ModeSymlink == 0 {
		return false
	}
	to, err := files.Canonical(files.AbsoluteFrom(filepath.Dir(e.Path), e.After.Link))
	return err != nil || !slices.ContainsFunc(l.Roots, func(r Root) bool { return files.Within(r.Lower, to) })
}
