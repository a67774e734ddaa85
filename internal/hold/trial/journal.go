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
	"github.com/umpirehq/umpire/internal/host/relay"
)

// A record is the folder of one keep or undo, in state/kept. It is the journal during the
// operation and the data for an undo afterwards. Its files show the progress:
//
//	pending.json  a call writes the files itself; the old content is saved
//	journal.json  the planned changes; nothing in the project has been touched
//	staged.json   all new files are ready: from here the changes are completed
//	back.json     completing them failed, and they are rolled back
//	applied.json  everything is in place, and old files are safe: from here nothing is rolled back
//	done.json     the operation is complete
//	undone        the id of the record that undid this one
//
// The states from staged to done are one file that is renamed. That takes no space and
// works on a full disk. The record also has two folders: files holds the old content (and
// the new content while the operation runs), and after holds copies of new texts, which
// an undo needs to merge later changes.
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

// keptFolder is the folder of the records in umpire's state.
const keptFolder = relay.KeptFolder

// callPrefix starts the ids of records of calls.
const callPrefix = "c"

// journalVersion changes if an older umpire could not read the journal of a newer one.
const journalVersion = 1

// A journal lists the changes of a keep or an undo.
type journal struct {
	Version int       `json:"version"`
	ID      string    `json:"id"`
	Time    time.Time `json:"time"`
	Command string    `json:"command,omitempty"`
	// Call and Session identify the call that wrote, Trial its trial, and Project the
	// folder it was made for. All are empty for `umpire try`.
	Call    umpire.CallID    `json:"call,omitempty"`
	Session umpire.SessionID `json:"session,omitempty"`
	Trial   umpire.TrialID   `json:"trial,omitempty"`
	Project string           `json:"project,omitempty"`
	// Later means that another program writes: see [RecordSpec].
	Later bool `json:"later,omitempty"`
	// Undoes is the record that this one undoes, and Only lists the requested paths, or
	// is empty for all.
	Undoes string   `json:"undoes,omitempty"`
	Only   []string `json:"only,omitempty"`
	// Layer is the folder of the layer, which is removed at the end.
	Layer   string       `json:"layer,omitempty"`
	Roots   []keptRoot   `json:"roots"`
	Steps   []step       `json:"steps"`
	Folders []folderStep `json:"folders"`
}

// A keptRoot is a folder with changes.
type keptRoot struct {
	Path   string `json:"path"`
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
	// Apart means that the record is on another file system. New files are then prepared
	// in a separate folder in the root, and old files are copied from there.
	Apart bool `json:"apart,omitempty"`
}

// A step is the change of one path. Its staged file is named after its number.
type step struct {
	Path string `json:"path"`
	Root int    `json:"root"`
	// Before and After are the old and new entry; both carry the digest of the content.
	Before Entry `json:"before,omitzero"`
	After  Entry `json:"after,omitzero"`
	// InPlace means that only attributes change and the file stays the same.
	InPlace bool `json:"in_place,omitempty"`
	// Unchanged means that a call was expected to write there and did not.
	Unchanged bool `json:"unchanged,omitempty"`
	// Lost is the reason why a call's record cannot restore the old content.
	Lost relay.LossReason `json:"lost,omitempty"`
	// Secret means that the content is only stored sealed, without a text for merging.
	Secret bool `json:"secret,omitempty"`

	from content // the source of the staged file
}

// A content is a file in an open folder from which a new file is made.
type content struct {
	folder int
	name   string
}

// A folderStep is a folder whose attributes are set last because its entries change.
type folderStep struct {
	Path   string `json:"path"`
	Root   int    `json:"root"`
	Before Entry  `json:"before,omitzero"`
	After  Entry  `json:"after"`
}

// stageName is the name of the folder in a root in which files are prepared.
func (j *journal) stageName() string { return ".umpire-" + j.ID }

// isFolderStep reports whether a step makes or deletes a folder.
func (s *step) isFolderStep() bool { return s.Before.Type.IsDir() || s.After.Type.IsDir() }

// kept summarizes a journal for display.
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

// byPath returns the indexes of the steps, sorted by path. In the record of a call, the
// steps of a moved folder come last.
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
	data, err := encodePaths(j)
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
	if err := decodePaths(data, j); err != nil {
		return nil, umpire.Errorf("read %q: %w", file, err)
	}
	if j.Version != journalVersion {
		return nil, umpire.Errorf("read %q: unknown version %d", file, j.Version)
	}
	return j, nil
}

// writeStaged notes the inodes of the prepared files. A step is done when its inode
// has left the stage.
func writeStaged(record string, inodes []uint64) error {
	data, err := json.Marshal(inodes)
	if err != nil {
		return err
	}
	return files.Replace(filepath.Join(record, stagedFile), data, 0o600)
}

// readStaged returns nil if not all files were prepared.
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
