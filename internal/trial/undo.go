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
	"github.com/umpirehq/umpire/internal/relay"
	"github.com/umpirehq/umpire/internal/trial/retention"
)

// UndoLimits say how much is kept for undoing, and for how long.
type UndoLimits = retention.Limits

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

// An Unfinished is a record that cannot be finished: its project was removed, was replaced or cannot be reached, or the
// record is damaged. Root is "" if the record does not tell it.
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

// Records lists keeps and undos, the latest first, and says which were taken back. Damaged records
// are left out.
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
			continue // it is being removed
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

// collect removes the records beyond the limits of space and age: see [retention.Removable]. Records of calls that
// cannot be finished have the same age.
func collect(state string, limits UndoLimits, now time.Time) error {
	all, err := Records(state)
	if err != nil {
		return err
	}
	var errs []error
	for id := range retention.Removable(retained(state, all), limits, now) {
		errs = append(errs, forgetRecord(filepath.Join(state, keptFolder, id)))
	}
	calls, err := filepath.Glob(filepath.Join(state, keptFolder, callPrefix+"*"))
	for _, record := range calls {
		began, err := os.Stat(filepath.Join(record, relay.PendingFile))
		if err == nil && !files.Exists(record, doneFile) && now.Sub(began.ModTime()) > limits.Age {
			_ = Forget(state, filepath.Base(record)) // one that is locked or another user's stays
		}
	}
	return errors.Join(append(errs, err)...)
}

// retained returns the records with their space and their worth.
func retained(state string, all []Kept) []retention.Record {
	list, projects := make([]retention.Record, len(all)), map[string]*retention.Project{}
	for i := range all {
		root := all[i].Root
		if projects[root] == nil {
			projects[root] = retention.NewProject(root)
		}
		list[i] = all[i].retained(projects[root])
		list[i].Bytes = spaceOf(filepath.Join(state, keptFolder, all[i].ID))
	}
	return list
}

// retained returns the record with its worth. Bytes are those of the files that it replaced.
func (k *Kept) retained(p *retention.Project) retention.Record {
	r := retention.Record{ID: k.ID, Project: k.Root, Session: string(k.Session), Time: k.Time}
	if k.Undone != "" {
		return r
	}
	var old []retention.Old
	for i := range k.Changes {
		if c := &k.Changes[i]; c.Before.Exists() && !c.Before.Type.IsDir() {
			old = append(old, retention.Old{Path: c.Path, Bytes: c.Before.Size, Deleted: !c.After.Exists()})
		}
	}
	p.Weigh(&r, old)
	return r
}

// Expires is when a record goes at the latest, and from when it may go for its space.
func (k *Kept) Expires(limits UndoLimits) (early, late time.Time) {
	r := k.retained(retention.NewProject(k.Root))
	return limits.Expires(&r)
}

// ErrWouldForget says that undo has no room for a keep: records younger than a day stay.
var ErrWouldForget = errors.New("undo has no room for the old content: records younger than a day stay")

// smallKeep is how much a keep may replace without a look at the other records.
const smallKeep = 1 << 20

// checkRoom refuses a keep whose old content has no room beside the records of the last day.
func (s *KeepSpec) checkRoom(j *journal) error {
	kept := j.kept()
	next := kept.retained(retention.NewProject(kept.Root))
	if s.Limits.Bytes == 0 || s.Reviewed || next.Bytes < min(smallKeep, s.Limits.Bytes/64) {
		return nil
	}
	all, err := Records(s.State)
	if err != nil || retention.Fits(retained(s.State, all), &next, s.Limits, j.Time) {
		return err
	}
	return ErrWouldForget
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
