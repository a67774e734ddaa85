package trial

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// A strandedError says that a rollback found files that somebody else has changed
// meanwhile, and left them. The old files are in Record.
type strandedError struct {
	Paths  []string
	Record string
}

func (e *strandedError) Error() string { return e.formatted().Error() }

// Phrase returns what it says as data.
func (e *strandedError) Phrase() umpire.Phrase { return umpire.PhraseOf(e.formatted()) }

func (e *strandedError) formatted() error {
	return umpire.Errorf("somebody else has changed %s meanwhile; what stood there before is in %s",
		listPaths(e.Paths), e.Record)
}

// rollBack takes all changes back, the last one first, and forgets the record.
func (t *transaction) rollBack() error {
	if err := announceSteps(t.record, t.Steps); err != nil {
		return err
	}
	for _, name := range []string{stagedFile, appliedFile} { // the latter where noting it failed
		if files.Exists(t.record, name) {
			if err := t.advance(name, backFile); err != nil {
				return err
			}
		}
	}
	t.forgetFolder()
	if err := t.unlockFolders(); err != nil && !files.Missing(err) {
		return err
	}
	var stranded []string
	for _, i := range slices.Backward(t.order()) {
		err := t.undoStep(i)
		if conflict, ok := errors.AsType[*ConflictError](err); ok {
			stranded = append(stranded, conflict.Paths...)
		} else if err != nil {
			return err
		}
	}
	if err := t.setFolders(func(f *folderStep) Entry { return f.Before }); err != nil {
		return err
	}
	if err := t.flush(); err != nil {
		return err
	}
	if len(stranded) > 0 {
		return t.strand(stranded)
	}
	return errors.Join(t.noteRestored(), t.drop())
}

// restoredFile is in a layer's folder and says when a rollback put files back, by path.
const restoredFile = "restored.json"

// noteRestored notes of the files that were put back when that was, so that the layer can
// still be kept: moving a file is a change of it that the system remembers.
func (t *transaction) noteRestored() error {
	if t.Layer == "" {
		return nil
	}
	restored := map[string]time.Time{}
	for i := range t.Steps {
		s := &t.Steps[i]
		parent, base, err := t.parentOf(s.Root, s.Path)
		if err != nil || !s.Before.Exists() {
			continue // it is not there, as before
		}
		now, changed, err := statAt(parent, base)
		if err == nil && isSameFile(&now, &s.Before) && hasSameAttributes(&now, &s.Before) {
			restored[umpire.EscapePath(s.Path)] = changed
		}
	}
	text, err := json.Marshal(restored)
	if err != nil {
		return err
	}
	_ = os.WriteFile(filepath.Join(t.Layer, restoredFile), text, 0o600) // without it the layer is refused
	return nil
}

// readRestored is what noteRestored noted in a layer, if there was a rollback.
func readRestored(layer string) map[string]time.Time {
	restored := map[string]time.Time{}
	text, err := os.ReadFile(filepath.Join(layer, restoredFile))
	if err != nil || json.Unmarshal(text, &restored) != nil {
		return nil
	}
	return restored
}

// strandedSuffix marks a record of which a rollback could not put everything back.
const strandedSuffix = ".stranded"

// strand keeps a record for the person to look at.
func (t *transaction) strand(paths []string) error {
	aside := t.record + strandedSuffix
	return errors.Join(os.Rename(t.record, aside), &strandedError{paths, aside})
}

// undoStep takes one change back, if it has been made. The new file must be as it was put
// there.
func (t *transaction) undoStep(i int) error {
	s := &t.Steps[i]
	if s.InPlace {
		err := t.changeInPlace(s, s.After, s.Before)
		if _, replaced := errors.AsType[*ConflictError](asConflict(s.Path, err)); replaced {
			return nil // its attributes went with it
		}
		return err
	}
	made, err := t.isMade(i)
	if err != nil || !made {
		return err
	}
	put := s.After
	if s.After.Exists() {
		put.Inode = t.staged[i]
	}
	return t.swapStep(i, put, s.Before)
}
