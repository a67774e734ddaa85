package trial

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire/internal/files"
)

// Recover finishes what a crash has left half done, or rolls it back, and leaves alone what
// another process is working on. It is right at any time, and twice is as once.
func Recover(ctx context.Context, state string) error {
	var errs []error
	records, err := os.ReadDir(filepath.Join(state, keptFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, r := range records {
		if !r.IsDir() || strings.HasSuffix(r.Name(), strandedSuffix) {
			continue
		}
		err := recoverRecord(ctx, filepath.Join(state, keptFolder, r.Name()))
		if err != nil && !errors.Is(err, errLocked) {
			errs = append(errs, fmt.Errorf("recover %s: %w", r.Name(), err))
		}
	}
	return errors.Join(errs...)
}

// recoverRecord goes on where the process that made a record has stopped.
func recoverRecord(ctx context.Context, record string) error {
	done := files.Exists(record, doneFile)
	j, err := readJournal(record)
	if errors.Is(err, fs.ErrNotExist) {
		return dropEmpty(record)
	}
	if err != nil || done && !j.needsCleaning(record) {
		return err
	}
	t, err := openTransaction(record, j)
	if err != nil {
		return err
	}
	defer t.close()
	if done = files.Exists(record, doneFile); !done && !files.Exists(record, journalFile) {
		return nil // whoever worked on it has dropped it meanwhile
	}
	if t.staged, err = readStaged(record); err != nil {
		return err
	}
	err = t.openStages()
	switch {
	case t.staged == nil:
		return t.drop()
	case done:
		return t.clean()
	case files.Exists(record, appliedFile):
		return t.complete()
	case files.Missing(err) && files.Exists(record, backFile):
		return t.drop() // all is back
	case err != nil:
		return err
	case files.Exists(record, backFile):
		return t.rollBack()
	}
	return t.finish(ctx)
}

// dropEmpty removes a record that has not come as far as its journal.
func dropEmpty(record string) error {
	t := newTransaction(record, nil)
	defer t.close()
	if err := t.lockRecord(); err != nil {
		return err
	}
	if files.Exists(record, journalFile) {
		return nil // it has come that far meanwhile
	}
	return files.RemoveTree(record)
}

// needsCleaning reports whether something is left beside a record that is done.
func (j *journal) needsCleaning(record string) bool {
	if j.Layer != "" && files.Exists(filepath.Dir(j.Layer), filepath.Base(j.Layer)) {
		return true
	}
	undone := filepath.Join(filepath.Dir(record), j.Undoes)
	return j.Undoes != "" && len(j.Only) == 0 && files.Exists(undone, journalFile) && !files.Exists(undone, undoneFile)
}
