package trial

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// A gate records the outcome of its sessions' trials. Keeps, discards and undos that a person makes
// outside any session are reported to a gate afterwards. A file, written together with the change
// itself, marks the report as due. After a crash the next process sends the report.

// unreportedFile is in the record of a keep or an undo that must be reported.
const unreportedFile = "unreported"

// discardedHeld ends the name of a discarded trial in the folder of waiting trials if the
// discard must be reported.
const discardedHeld = ".discarded"

// owesReport marks a record as due for a report when it is done.
func owesReport(record string) error {
	return os.WriteFile(filepath.Join(record, unreportedFile), nil, 0o600)
}

// discardReported discards a waiting trial and notes that a report is due.
func (h *Held) discardReported(state string) error {
	now, file := time.Now(), heldFile(state, h.ID)
	err := os.Chtimes(file, now, now)
	if err == nil {
		err = os.Rename(file, discardedFile(state, h.ID))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return h.Layer.Discard()
}

func discardedFile(state, id string) string {
	return filepath.Join(state, heldFolder, id+discardedHeld)
}

// Unreported lists the keeps, discards and undos outside any session that a gate has not
// been told about.
func Unreported(state string) ([]umpire.TrialSettlement, error) {
	all, err := unreportedRecords(state)
	discarded, discardErr := unreportedDiscards(state)
	return append(all, discarded...), errors.Join(err, discardErr)
}

func unreportedRecords(state string) (all []umpire.TrialSettlement, err error) {
	folders, err := os.ReadDir(filepath.Join(state, keptFolder))
	for _, f := range folders {
		record := filepath.Join(state, keptFolder, f.Name())
		if strings.HasPrefix(f.Name(), callPrefix) || !files.Exists(record, unreportedFile) ||
			!files.Exists(record, doneFile) {
			continue
		}
		j, readErr := readJournal(record)
		if readErr != nil {
			continue // removed or damaged
		}
		k := j.kept()
		all = append(all, settlementOf(umpire.TrialKept, k.Changes, &umpire.TrialRecord{
			ID: k.ID, Undoes: k.Undoes, Dir: k.Root, Command: k.Command, At: k.Time,
		}))
	}
	return all, files.IgnoreMissing(err)
}

func unreportedDiscards(state string) (all []umpire.TrialSettlement, err error) {
	entries, err := os.ReadDir(filepath.Join(state, heldFolder))
	err = files.IgnoreMissing(err)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), discardedHeld) {
			continue
		}
		info, oneErr := e.Info()
		var h *Held
		if oneErr == nil {
			h, oneErr = readHeld(filepath.Join(state, heldFolder, e.Name()))
		}
		if oneErr == nil {
			oneErr = h.Layer.Discard() // a crash may have left parts of it
		}
		if oneErr != nil {
			err = errors.Join(err, files.IgnoreMissing(oneErr))
			continue
		}
		s := settlementOf(umpire.TrialDiscarded, h.Effects.List, &umpire.TrialRecord{
			ID: h.ID, Dir: h.Root, Command: h.Command, At: info.ModTime().UTC(),
		})
		if info.ModTime().Sub(h.Time) >= heldAge {
			s.Reason = "nobody has kept it within seven days"
		}
		all = append(all, s)
	}
	return all, err
}

// maxReportedPaths limits how many paths a report names.
const maxReportedPaths = 20

func settlementOf(state umpire.TrialState, list []Effect, r *umpire.TrialRecord) umpire.TrialSettlement {
	s := umpire.TrialSettlement{State: state, Record: r}
	r.Changes = len(list)
	r.Command, r.Dir = strings.ToValidUTF8(r.Command, "�"), strings.ToValidUTF8(r.Dir, "�")
	for i := range list[:min(len(list), maxReportedPaths)] {
		s.Paths = append(s.Paths, umpire.EscapePath(list[i].Path))
	}
	return s
}

// MarkReported notes that a gate has received the report. If the note is lost, the report
// is sent again, and the gate recognizes it by its id.
func MarkReported(state string, r *umpire.TrialRecord) error {
	return errors.Join(
		files.IgnoreMissing(os.Remove(filepath.Join(state, keptFolder, r.ID, unreportedFile))),
		files.IgnoreMissing(os.Remove(discardedFile(state, r.ID))),
	)
}
