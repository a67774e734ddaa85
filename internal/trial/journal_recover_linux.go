package trial

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// Recover finishes what a crash has left half done, or rolls it back, and leaves alone what
// another process is working on. It is right at any time, and twice is as once. Without a
// vault an undo of files that hold secrets stays unfinished.
func Recover(ctx context.Context, state string, vault Vault) error {
	_, err := recoverRecords(ctx, state, vault)
	return err
}

// recoverRecords also returns how many records it left alone, since another process works on them.
func recoverRecords(ctx context.Context, state string, vault Vault) (locked int, err error) {
	return eachRecord(state, func(record string) error {
		if strings.HasSuffix(record, strandedSuffix) {
			return nil
		}
		if err := recoverRecord(ctx, record, vault); err != nil {
			return umpire.Errorf("recover %s: %w", filepath.Base(record), err)
		}
		return nil
	})
}

// eachRecord does something to every record that no other process works on, and returns how many
// of the others there are.
func eachRecord(state string, do func(record string) error) (locked int, err error) {
	records, err := os.ReadDir(filepath.Join(state, keptFolder))
	if err != nil {
		return 0, ignoreGone(err)
	}
	var errs []error
	for _, r := range records {
		if !r.IsDir() {
			continue
		}
		switch err := do(filepath.Join(state, keptFolder, r.Name())); {
		case errors.Is(err, errLocked):
			locked++
		case err != nil:
			errs = append(errs, err)
		}
	}
	return locked, errors.Join(errs...)
}

// recoverRecord goes on where the process that made a record has stopped.
func recoverRecord(ctx context.Context, record string, vault Vault) error {
	if files.Exists(record, doneFile) {
		if strings.HasPrefix(filepath.Base(record), callPrefix) {
			return nil // there are many of them, and they leave nothing beside themselves
		}
		if j, err := readJournal(record); err != nil || !j.needsCleaning(record) {
			return ignoreGone(err)
		}
	}
	lock, err := lockRecord(record)
	if err != nil {
		return ignoreGone(err)
	}
	if files.Exists(record, pendingFile) {
		return sealPending(ctx, record, lock, isOverdue)
	}
	j, err := readJournal(record)
	if err != nil {
		_ = lock.Close() // which unlocks it
		if errors.Is(err, fs.ErrNotExist) {
			return files.RemoveTree(record) // it has not come as far as its journal
		}
		return err
	}
	t, err := openTransaction(record, lock, j)
	if err != nil {
		return err
	}
	defer t.close()
	t.vault = vault
	return t.goOn(ctx)
}

// Settle seals the records of calls of other programs that have written and have not said so.
func Settle(ctx context.Context, state string) error {
	_, err := settleRecords(ctx, state)
	return err
}

// settleRecords also returns how many records it left alone, since another process works on them.
func settleRecords(ctx context.Context, state string) (locked int, err error) {
	return eachRecord(state, func(record string) error {
		if !files.Exists(record, pendingFile) {
			return nil
		}
		lock, err := lockSoon(record)
		if err == nil {
			err = sealPending(ctx, record, lock, func(_ *journal, changed bool) bool { return changed })
		}
		return ignoreGone(err)
	})
}

// isOverdue reports whether another program has had its time to write, and to say so.
func isOverdue(j *journal, changed bool) bool {
	if changed {
		return time.Since(j.Time) > laterChanged
	}
	return time.Since(j.Time) > laterUnchanged
}

// goOn finishes a transaction or rolls it back, by what its record says.
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

// needsCleaning reports whether something is left beside a record that is done.
func (j *journal) needsCleaning(record string) bool {
	if j.Layer != "" && files.Exists(filepath.Dir(j.Layer), filepath.Base(j.Layer)) {
		return true
	}
	undone := filepath.Join(filepath.Dir(record), j.Undoes)
	return j.Undoes != "" && len(j.Only) == 0 && files.Exists(undone, journalFile) && !files.Exists(undone, undoneFile)
}
