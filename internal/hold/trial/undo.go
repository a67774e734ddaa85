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
	"github.com/umpirehq/umpire/internal/host/relay"
)

// An UndoSpec selects the changes to undo.
type UndoSpec struct {
	// State is umpire's own folder.
	State string
	// ID is a record's id, a prefix of it, or the id of the call that wrote. If "", it is
	// the latest record below Root that has not been undone.
	ID string
	// Root is a project, or "" for all. It is ignored if ID is set.
	Root string
	// Approve is called with the planned changes before anything is undone. Its error is
	// returned. If nil, all changes are approved.
	Approve func(*Kept) error
	// Vault opens sealed content, and seals the content that the undo removes.
	Vault Vault
	// Only are the absolute paths to undo, with everything below them. If empty, all are
	// undone.
	Only []string
}

// The reasons why nothing can be undone.
var (
	ErrNothingKept = errors.New("nothing to undo: no changes were kept")
	ErrTakenBack   = errors.New("it was already undone")
	ErrManyKept    = errors.New("the ID is ambiguous: type more of it")
)

// An Unfinished is a record that cannot be finished: its project was removed or replaced
// or cannot be reached, or the record is damaged. Root is "" if it is unknown.
type Unfinished struct {
	ID, Root string
	Err      error
}

func newUnfinished(record string, err error) Unfinished {
	u := Unfinished{ID: filepath.Base(record), Err: err}
	for _, name := range []string{relay.PendingFile, journalFile} {
		if j, err := readJournalFile(filepath.Join(record, name)); err == nil {
			u.Root = j.kept().Root
		}
	}
	return u
}

// Records lists keeps and undos, latest first, and whether they were undone. Damaged
// records are left out.
func Records(state string) ([]Kept, error) {
	all, _, err := readRecords(state)
	return all, err
}

func readRecords(state string) (all []Kept, damaged []Unfinished, err error) {
	folders, err := os.ReadDir(filepath.Join(state, keptFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	for _, f := range folders {
		record := filepath.Join(state, keptFolder, f.Name())
		if !files.Exists(record, doneFile) {
			continue
		}
		j, err := readJournal(record)
		if errors.Is(err, fs.ErrNotExist) {
			continue // being removed
		}
		undone, undoneErr := os.ReadFile(filepath.Join(record, undoneFile))
		if err = errors.Join(err, files.IgnoreMissing(undoneErr)); err != nil {
			damaged = append(damaged, newUnfinished(record, err))
			continue
		}
		k := j.kept()
		k.Undone = string(undone)
		all = append(all, *k)
	}
	slices.SortFunc(all, func(a, b Kept) int { return b.Time.Compare(a.Time) })
	return all, damaged, nil
}

// Undoable lists the records below a folder that can be undone and have not been, latest
// first. It leaves out undos of keeps, which can be undone by their id.
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

// findRecord returns the record with the spec's ID.
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
	// Agents choose the names of calls, so a call may have the same name as another record.
	if i := slices.IndexFunc(all, func(k Kept) bool { return k.ID == spec.ID }); i >= 0 {
		return wantOpen(&all[i])
	}
	var found []*Kept
	for i := range all {
		k := &all[i]
		switch {
		case spec.ID == string(k.Call) && k.Undone == "":
			return k, nil // the latest, if several sessions have a call of that name
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

// wantOpen returns an error if k was already undone.
func wantOpen(k *Kept) (*Kept, error) {
	if k.Undone != "" {
		return nil, umpire.Errorf("%w, by %s", ErrTakenBack, k.Undone)
	}
	return k, nil
}

// isTakenBack reports whether a record undoes a keep. Such a record can only be undone by
// its id; otherwise a second undo would redo the changes that the first one removed.
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

// collect removes the records beyond the limits of space and age: see [pickRemovable]. The
// age limit also applies to records of calls that cannot be finished.
func collect(state string, limits UndoLimits, now time.Time) error {
	all, err := Records(state)
	if err != nil {
		return err
	}
	var errs []error
	for id := range pickRemovable(retained(state, all), limits, now) {
		errs = append(errs, forgetRecord(filepath.Join(state, keptFolder, id)))
	}
	calls, err := filepath.Glob(filepath.Join(state, keptFolder, callPrefix+"*"))
	for _, record := range calls {
		began, err := os.Stat(filepath.Join(record, relay.PendingFile))
		if err == nil && !files.Exists(record, doneFile) && now.Sub(began.ModTime()) > limits.Age {
			_ = Forget(state, filepath.Base(record)) // a locked one or another user's stays
		}
	}
	return errors.Join(append(errs, err)...)
}

// retained converts the records for the retention rules.
func retained(state string, all []Kept) []undoRecord {
	list, projects := make([]undoRecord, len(all)), map[string]*undoProject{}
	for i := range all {
		root := all[i].Root
		if projects[root] == nil {
			projects[root] = newUndoProject(root)
		}
		list[i] = all[i].retained(projects[root])
		list[i].Bytes = spaceOf(filepath.Join(state, keptFolder, all[i].ID))
	}
	return list
}

// retained converts the record for the retention rules. Bytes is the size of the replaced files.
func (k *Kept) retained(p *undoProject) undoRecord {
	r := undoRecord{ID: k.ID, Project: k.Root, Session: string(k.Session), Time: k.Time}
	if k.Undone != "" {
		return r
	}
	var old []oldContent
	for i := range k.Changes {
		if c := &k.Changes[i]; c.Before.Exists() && !c.Before.Type.IsDir() {
			old = append(old, oldContent{Path: c.Path, Bytes: c.Before.Size, Deleted: !c.After.Exists()})
		}
	}
	p.weigh(&r, old)
	return r
}

// Expires returns when a record may be removed for its space, and when it is removed for its age.
func (k *Kept) Expires(limits UndoLimits) (early, late time.Time) {
	r := k.retained(newUndoProject(k.Root))
	return limits.expires(&r)
}

// ErrWouldForget means that a keep's old content does not fit: records younger than a day stay.
var ErrWouldForget = errors.New("undo has no room for the old content, because it keeps records younger than a day")

// smallKeep is the size below which a keep does not check the other records.
const smallKeep = 1 << 20

// checkRoom refuses a keep whose old content does not fit next to the records of the last day.
func (s *KeepSpec) checkRoom(j *journal) error {
	kept := j.kept()
	next := kept.retained(newUndoProject(kept.Root))
	if s.Limits.Bytes == 0 || s.Reviewed || next.Bytes < min(smallKeep, s.Limits.Bytes/64) {
		return nil
	}
	all, err := Records(s.State)
	if err != nil || hasRoom(retained(s.State, all), &next, s.Limits, j.Time) {
		return err
	}
	return ErrWouldForget
}

// forgetRecord removes a finished record. Without its journal it no longer counts as a record.
func forgetRecord(record string) error {
	if err := os.Remove(filepath.Join(record, journalFile)); err != nil {
		return err
	}
	return files.RemoveTree(record)
}

// spaceOf returns the total size of the files in a folder.
func spaceOf(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // unreadable entries count as 0
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			total += diskSize(info)
		}
		return nil
	})
	return total
}
