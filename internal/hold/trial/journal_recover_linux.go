package trial

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/umpirehq/umpire/internal/files"
)

// Recover completes the operations that a crash interrupted, or rolls them back, and skips records
// that another process works on. It is idempotent and can be called at any time. Without a vault,
// an undo of files with secrets stays unfinished. A record that cannot be finished is not an error,
// because it must not stop work in other projects: see [FindUnfinished].
func Recover(ctx context.Context, state string, vault Vault) error {
	_, _, err := recoverRecords(ctx, state, vault)
	return err
}

// FindUnfinished recovers, and returns the records that cannot be finished, were set aside or are damaged.
func FindUnfinished(ctx context.Context, state string, vault Vault) ([]Unfinished, error) {
	_, failed, err := recoverRecords(ctx, state, vault)
	_, damaged, readErr := readRecords(state)
	return append(failed, damaged...), errors.Join(err, readErr)
}

// Forget removes a record that cannot be finished, including its saved files.
func Forget(state, id string) error {
	record := filepath.Join(state, keptFolder, filepath.Base(id))
	lock, err := lockRecord(record)
	if err != nil {
		return err
	}
	return errors.Join(files.RemoveTree(record), lock.Close())
}

// recoverRecords returns the results of [eachRecord].
func recoverRecords(ctx context.Context, state string, vault Vault) (locked int, failed []Unfinished, err error) {
	return eachRecord(state, func(record string) error {
		if strings.HasSuffix(record, strandedSuffix) {
			return &strandedError{[]string{newUnfinished(record, nil).Root}, record}
		}
		return recoverRecord(ctx, record, vault)
	})
}

// eachRecord calls do for every record that no other process works on. It returns the
// number of locked records, and the records for which do failed.
func eachRecord(state string, do func(record string) error) (locked int, failed []Unfinished, err error) {
	records, err := os.ReadDir(filepath.Join(state, keptFolder))
	if err != nil {
		return 0, nil, files.IgnoreMissing(err)
	}
	for _, r := range records {
		if !r.IsDir() {
			continue
		}
		record := filepath.Join(state, keptFolder, r.Name())
		switch err := do(record); {
		case errors.Is(err, errLocked):
			locked++
		case err != nil:
			failed = append(failed, newUnfinished(record, err))
		}
	}
	return locked, failed, nil
}

// recoverRecord continues where the process that made a record stopped.
func recoverRecord(ctx context.Context, record string, vault Vault) error {
	if files.Exists(record, doneFile) {
		if strings.HasPrefix(filepath.Base(record), callPrefix) {
			return nil // there are many of them, and they leave nothing outside their folder
		}
		if j, err := readJournal(record); err != nil || !j.needsCleaning(record) {
			return nil // a damaged one is reported by its reader
		}
	}
	lock, err := lockRecord(record)
	if err != nil {
		return files.IgnoreMissing(err)
	}
	if files.Exists(record, pendingFile) {
		return sealPending(ctx, record, lock, isOverdue)
	}
	j, err := readJournal(record)
	if err != nil {
		_ = lock.Close() // also unlocks it
		if errors.Is(err, fs.ErrNotExist) {
			return files.RemoveTree(record) // the crash came before the journal
		}
		return err
	}
	t, err := openTransaction(record, lock, j)
	if err != nil {
		return err
	}
	defer t.close()
	if t.unlock, err = lockRoots(ctx, record, t.Roots); err != nil {
		return err
	}
	t.vault = vault
	return t.goOn(ctx)
}

// Settle seals the records of calls of other programs that have written without reporting it.
func Settle(ctx context.Context, state string) error {
	_, _, err := settleRecords(ctx, state)
	return err
}

// settleRecords returns the results of [eachRecord].
func settleRecords(ctx context.Context, state string) (locked int, failed []Unfinished, err error) {
	return eachRecord(state, func(record string) error {
		if !files.Exists(record, pendingFile) {
			return nil
		}
		lock, err := lockSoon(record)
		if err == nil {
			err = sealPending(ctx, record, lock, func(_ *journal, changed bool) bool { return changed })
		}
		return files.IgnoreMissing(err)
	})
}

// isOverdue reports whether another program has had enough time to write and report it.
func isOverdue(j *journal, changed bool) bool {
	if changed {
		return time.Since(j.Time) > laterChanged
	}
	return time.Since(j.Time) > laterUnchanged
}

// goOn completes a transaction or rolls it back, depending on its record.
func (t *transaction) goOn(ctx context.Context) (err error) {
	if t.staged, err = readStaged(t.record); err != nil {
		return err
	}
	err = t.openStages()
	back := files.Exists(t.record, backFile)
	switch {
	case t.staged == nil, back && files.Missing(err): // nothing has changed, or all is back
		return t.drop()
	case files.Exists(t.record, doneFile):
		return t.clean()
	case files.Exists(t.record, appliedFile):
		return t.complete()
	case err != nil:
		return err
	case back:
		return t.rollBack()
	}
	return t.finish(ctx)
}

// needsCleaning reports whether a finished record has leftovers outside its folder.
func (j *journal) needsCleaning(record string) bool {
	if j.Layer != "" && files.Exists(filepath.Dir(j.Layer), filepath.Base(j.Layer)) {
		return true
	}
	undone := filepath.Join(filepath.Dir(record), j.Undoes)
	return j.Undoes != "" && len(j.Only) == 0 && files.Exists(undone, journalFile) && !files.Exists(undone, undoneFile)
}
