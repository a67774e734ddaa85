package trial

import (
	"encoding/json"
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
)

// A record is the folder of one keep or undo, in state/kept. It is the journal while that
// runs, and what an undo needs afterwards. How far it has come is told by the files in it:
//
//	pending.json  a call writes the files itself; what stood there is safe
//	journal.json  what is going to change; nothing of the project has been touched
//	staged.json   all new files are ready: from here it is finished
//	back.json     it could not be, and is rolled back
//	applied.json  all is there, and old files are safe: from here nothing is rolled back
//	done.json     it is whole
//	undone        the id of the record that took it back
//
// Those in the middle are one file, which is renamed: that takes no space, so that it works
// on a full disk. Beside them lie the folders files, with what stood at the paths
// before (while it runs, with what is put there), and after, with copies of new texts, by
// which an undo merges later changes.
const (
	journalFile = "journal.json"
	stagedFile  = "staged.json"
	backFile    = "back.json"
	appliedFile = "applied.json"
	doneFile    = "done.json"
	undoneFile  = "undone"
	filesFolder = "files"
	afterFolder = "after"
)

// keptFolder holds the records in umpire's state.
const keptFolder = relay.KeptFolder

// callPrefix begins the ids of records of calls.
const callPrefix = "c"

// journalVersion changes when an older umpire could not read what a newer one wrote.
const journalVersion = 1

// A journal is what a keep or an undo changes.
type journal struct {
	Version int       `json:"version"`
	ID      string    `json:"id"`
	Time    time.Time `json:"time"`
	Command string    `json:"command,omitempty"`
	// Call and Session name the call that wrote, Trial the trial of it, and Project is the folder
	// it was made for. What `umpire try` kept has none of them.
	Call    umpire.CallID    `json:"call,omitempty"`
	Session umpire.SessionID `json:"session,omitempty"`
	Trial   umpire.TrialID   `json:"trial,omitempty"`
	Project string           `json:"project,omitempty"`
	// Later says that another program writes: see [RecordSpec].
	Later bool `json:"later,omitempty"`
	// Undoes is the record that this one takes back, and Only are the paths of it that it
	// was asked for, "" for all.
	Undoes string   `json:"undoes,omitempty"`
	Only   []string `json:"only,omitempty"`
	// Layer is the folder of the layer, which is removed when all is done.
	Layer   string       `json:"layer,omitempty"`
	Roots   []keptRoot   `json:"roots"`
	Steps   []step       `json:"steps"`
	Folders []folderStep `json:"folders"`
}

// A keptRoot is a folder in which things change.
type keptRoot struct {
	Path   string `json:"path"`
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
	// Apart says that the record lies on another file system. New files are then made
	// ready in a folder of their own in the root, and old ones copied from there.
	Apart bool `json:"apart,omitempty"`
}

// A step is one path that changes. The file that is staged for it has its number as a name.
type step struct {
	Path string `json:"path"`
	Root int    `json:"root"`
	// Before and After are what stands there; both carry the digest of the content.
	Before Entry `json:"before,omitzero"`
	After  Entry `json:"after,omitzero"`
	// InPlace says that only attributes change: the file stays the same one.
	InPlace bool `json:"in_place,omitempty"`
	// Unchanged says that a call was to write there, and has not.
	Unchanged bool `json:"unchanged,omitempty"`
	// Lost says why a call's record cannot bring back what stood there.
	Lost relay.LossReason `json:"lost,omitempty"`
	// Secret says that its content is only kept sealed, and no text of it for merging.
	Secret bool `json:"secret,omitempty"`

	from content // what is staged
}

// A content is a file, in a folder that is open, from which a new one is made.
type content struct {
	folder int
	name   string
}

// A folderStep is a folder whose attributes are set last: entries come and go in it.
type folderStep struct {
	Path   string `json:"path"`
	Root   int    `json:"root"`
	Before Entry  `json:"before,omitzero"`
	After  Entry  `json:"after"`
}

// stageName is the folder in a root in which files are made ready.
func (j *journal) stageName() string { return ".umpire-" + j.ID }

// isFolderStep reports whether a step makes or deletes a folder.
func (s *step) isFolderStep() bool { return s.Before.Type.IsDir() || s.After.Type.IsDir() }

// kept is what a journal did, for people.
func (j *journal) kept() *Kept {
	k := &Kept{
		ID: j.ID, Time: j.Time, Command: j.Command, Call: j.Call, Session: j.Session, Trial: j.Trial,
		Root: j.Project, Undoes: j.Undoes,
	}
	if k.Root == "" && len(j.Roots) > 0 {
		k.Root = j.Roots[0].Path
	}
	for _, i := range j.byPath() {
		s := &j.Steps[i]
		e := Effect{Path: s.Path, Kind: Changed, Before: s.Before, After: s.After}
		switch {
		case s.Unchanged:
			continue
		case s.InPlace:
			e.Kind = Attributes
		case !s.Before.Exists():
			e.Kind = Created
		case !s.After.Exists():
			e.Kind = Deleted
		}
		k.Changes = append(k.Changes, e)
		if s.Lost != "" {
			k.Lost = append(k.Lost, Loss{s.Path, s.Lost})
		}
	}
	return k
}

// byPath are the numbers of the steps, sorted by their paths. Those of a folder that was moved come last in the
// record of a call.
func (j *journal) byPath() []int {
	all := make([]int, len(j.Steps))
	for i := range all {
		all[i] = i
	}
	slices.SortFunc(all, func(a, b int) int { return strings.Compare(j.Steps[a].Path, j.Steps[b].Path) })
	return all
}

// writeJournal writes a journal into its record.
func writeJournal(record string, j *journal) error {
	data, err := json.Marshal(j.escaped())
	if err != nil {
		return err
	}
	return files.Replace(filepath.Join(record, journalFile), data, 0o600)
}

// readJournal reads the journal of a record.
func readJournal(record string) (*journal, error) {
	return readJournalFile(filepath.Join(record, journalFile))
}

func readJournalFile(file string) (*journal, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	j := &journal{}
	if err := json.Unmarshal(data, j); err != nil {
		return nil, umpire.Errorf("read %q: %w", file, err)
	}
	if j.Version != journalVersion {
		return nil, umpire.Errorf("read %q: version %d is not known", file, j.Version)
	}
	return j, j.unescape()
}

// writeStaged notes which files were made ready, by their inodes: a step is done when its
// own is no longer where it was staged.
func writeStaged(record string, inodes []uint64) error {
	data, err := json.Marshal(inodes)
	if err != nil {
		return err
	}
	return files.Replace(filepath.Join(record, stagedFile), data, 0o600)
}

// readStaged returns nil when not all was made ready.
func readStaged(record string) ([]uint64, error) {
	for _, name := range []string{stagedFile, backFile, appliedFile, doneFile} {
		data, err := os.ReadFile(filepath.Join(record, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		inodes := []uint64{}
		if err == nil {
			err = json.Unmarshal(data, &inodes)
		}
		return inodes, err
	}
	return nil, nil
}

// escaped is the journal with paths that JSON can hold.
func (j *journal) escaped() *journal {
	c := *j
	c.Steps = append([]step{}, j.Steps...)
	c.Folders = append([]folderStep{}, j.Folders...)
	c.Roots = append([]keptRoot{}, j.Roots...)
	c.Only = append([]string{}, j.Only...)
	_ = c.eachPath(func(path *string) error { // escaping does not fail
		*path = umpire.EscapePath(*path)
		return nil
	})
	return &c
}

func (j *journal) unescape() error {
	return j.eachPath(func(path *string) (err error) {
		*path, err = umpire.UnescapePath(*path)
		return err
	})
}

// eachPath visits all that may hold bytes that are not UTF-8.
func (j *journal) eachPath(visit func(*string) error) error {
	err := errors.Join(visit(&j.Layer), visit(&j.Command), visit(&j.Project))
	for i := range j.Only {
		err = errors.Join(err, visit(&j.Only[i]))
	}
	for i := range j.Roots {
		err = errors.Join(err, visit(&j.Roots[i].Path))
	}
	for i := range j.Steps {
		s := &j.Steps[i]
		err = errors.Join(err, visit(&s.Path), visitEntry(&s.Before, visit), visitEntry(&s.After, visit))
	}
	for i := range j.Folders {
		err = errors.Join(err, visit(&j.Folders[i].Path))
	}
	return err
}

func visitEntry(e *Entry, visit func(*string) error) error {
	return errors.Join(visit(&e.Link), visit(&e.SameAs))
}
