package trial

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// UndoLimits say how much is kept for undoing, and for how long. The latest record always stays.
type UndoLimits struct {
	Bytes int64
	Age   time.Duration
}

// An UndoSpec says what is taken back.
type UndoSpec struct {
	// State is umpire's own folder.
	State string
	// ID is a record, the beginning of its id, or the call that wrote; "" is the latest one below Root that has not
	// been taken back.
	ID string
	// Root is a project, "" for all of them. It does not matter to an ID.
	Root string
	// Approve is asked before anything is taken back, with what would change; nil approves
	// all. Its error is returned.
	Approve func(*Kept) error
	// Vault opens what was sealed, and seals what the undo takes away.
	Vault Vault
	// Only are the paths that are taken back, with what lies in them; none is all. They
	// are absolute.
	Only []string
}

// Why nothing can be taken back.
var (
	ErrNothingKept = errors.New("nothing was kept that could be taken back")
	ErrTakenBack   = errors.New("it was taken back already")
	ErrManyKept    = errors.New("the ID means several: type more of it")
)

// Records lists what was kept and undone, the latest first, and says which were taken back.
func Records(state string) ([]Kept, error) {
	var all []Kept
	folders, err := os.ReadDir(filepath.Join(state, keptFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, f := range folders {
		record := filepath.Join(state, keptFolder, f.Name())
		if !files.Exists(record, doneFile) {
			continue
		}
		j, err := readJournal(record)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it is being removed
		}
		if err != nil {
			return nil, err
		}
		k := j.kept()
		undone, err := os.ReadFile(filepath.Join(record, undoneFile))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		k.Undone = string(undone)
		all = append(all, *k)
	}
	slices.SortFunc(all, func(a, b Kept) int { return b.Time.Compare(a.Time) })
	return all, nil
}

// Undoable lists what was kept below a folder, can be taken back and has not been, the latest
// first. An undo of something kept is not in it, though it can be taken back by its id.
func Undoable(state, root string) ([]Kept, error) {
	all, err := Records(state)
	var open []Kept
	for i := range all {
		if all[i].Undone == "" && !isTakenBack(all, &all[i]) && (root == "" || files.Within(root, all[i].Root)) {
			open = append(open, all[i])
		}
	}
	return open, err
}

// findRecord finds the record that an id means.
func findRecord(spec *UndoSpec) (*Kept, error) {
	if spec.ID == "" {
		open, err := Undoable(spec.State, spec.Root)
		if err != nil {
			return nil, err
		}
		if len(open) == 0 {
			return nil, ErrNothingKept
		}
		return &open[0], nil
	}
	all, err := Records(spec.State)
	if err != nil {
		return nil, err
	}
	// Agents name their calls, so that one may be called like the record of another.
	if i := slices.IndexFunc(all, func(k Kept) bool { return k.ID == spec.ID }); i >= 0 {
		return wantOpen(&all[i])
	}
	var found []*Kept
	for i := range all {
		k := &all[i]
		switch {
		case spec.ID == string(k.Call) && k.Undone == "":
			return k, nil // the latest, where several sessions have a call of that name
		case strings.HasPrefix(k.ID, spec.ID), spec.ID == string(k.Call):
			found = append(found, k)
		}
	}
	switch {
	case len(found) == 0:
		return nil, ErrNothingKept
	case len(found) > 1:
		return nil, ErrManyKept
	}
	return wantOpen(found[0])
}

// wantOpen refuses what was taken back already.
func wantOpen(k *Kept) (*Kept, error) {
	if k.Undone != "" {
		return nil, umpire.Errorf("%w, by %s", ErrTakenBack, k.Undone)
	}
	return k, nil
}

// isTakenBack reports whether a record is an undo of something kept. That is taken back by
// its id only, else undoing twice would bring back what the first one took away.
func isTakenBack(all []Kept, k *Kept) bool {
	takes := false
	for k.Undoes != "" {
		takes = !takes
		i := slices.IndexFunc(all, func(other Kept) bool { return other.ID == k.Undoes })
		if i < 0 {
			break
		}
		k = &all[i]
	}
	return takes
}

// Collect removes the oldest records, beyond the limits of space and age.
func Collect(state string, limits UndoLimits, now time.Time) error {
	all, err := Records(state)
	if err != nil {
		return err
	}
	var errs []error
	total := int64(0)
	for i := range all {
		record := filepath.Join(state, keptFolder, all[i].ID)
		total += spaceOf(record)
		if i > 0 && (total > limits.Bytes || now.Sub(all[i].Time) > limits.Age) {
			errs = append(errs, forgetRecord(record))
		}
	}
	return errors.Join(errs...)
}

// forgetRecord removes a record that is done. From the first step on it is none any more.
func forgetRecord(record string) error {
	if err := os.Remove(filepath.Join(record, journalFile)); err != nil {
		return err
	}
	return files.RemoveTree(record)
}

// spaceOf is how large the files in a folder are together.
func spaceOf(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be read counts nothing
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			total += diskSize(info)
		}
		return nil
	})
	return total
}
