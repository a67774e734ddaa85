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

// A strandedError means that a rollback left files alone because another program had
// changed them meanwhile. The old files are in Record.
type strandedError struct {
	Paths  []string
	Record string
}

func (e *strandedError) Error() string { return e.formatted().Error() }

// Phrase returns the message as data.
func (e *strandedError) Phrase() umpire.Phrase { return umpire.PhraseOf(e.formatted()) }

func (e *strandedError) formatted() error {
	return umpire.Errorf("somebody else has changed %s meanwhile; its old content is in %s",
		listPaths(e.Paths), e.Record)
}

// rollBack undoes all changes, last one first, and forgets the record.
func (t *transaction) rollBack() error {
	if err := announceSteps(t.record, t.Steps); err != nil {
		return err
	}
	for _, name := range []string{stagedFile, appliedFile} { // the latter exists if flushing its rename failed
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

// restoredFile is in a layer's folder and maps paths to the times when a rollback restored them.
const restoredFile = "restored.json"

// noteRestored notes when files were restored, so the layer can still be kept: moving a
// file updates its change time.
func (t *transaction) noteRestored() error {
	if t.Layer == "" {
		return nil
	}
	restored := map[string]time.Time{}
	for i := range t.Steps {
		s := &t.Steps[i]
		parent, base, err := t.parentOf(s.Root, s.Path)
		if err != nil || !s.Before.Exists() {
			continue // it did not exist before
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

// readRestored returns the times that noteRestored wrote to a layer, or nil if there was no rollback.
func readRestored(layer string) map[string]time.Time {
	restored := map[string]time.Time{}
	text, err := os.ReadFile(filepath.Join(layer, restoredFile))
	if err != nil || json.Unmarshal(text, &restored) != nil {
		return nil
	}
	return restored
}

// strandedSuffix marks a record that a rollback could not restore completely.
const strandedSuffix = ".stranded"

// strand sets a record aside for the user to inspect.
func (t *transaction) strand(paths []string) error {
	aside := t.record + strandedSuffix
	return errors.Join(os.Rename(t.record, aside), &strandedError{paths, aside})
}

// undoStep undoes one change, if it has been made. The new file must be unchanged since
// then.
func (t *transaction) undoStep(i int) error {
	s := &t.Steps[i]
	if s.InPlace {
		err := t.changeInPlace(s, s.After, s.Before)
		if _, replaced := errors.AsType[*ConflictError](asConflict(s.Path, err)); replaced {
			return nil // its attributes were replaced with it
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
