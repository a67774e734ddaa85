package trial

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire/internal/files"
)

// A transaction makes the changes of one journal, all of them or none. It works on open
// folders: the roots and folders below them, opened without following links. It exchanges
// files with prepared ones and checks each replaced file before the next exchange,
// because other programs' writes must not be lost.
type transaction struct {
	*journal
	openRoots

	vault  Vault // nil if nothing is sealed
	record string
	lock   *os.File            // the record's folder, locked while a process works on it
	stages []int               // by root; holds prepared files, and later old ones
	staged []uint64            // by step; the inode of the prepared file, or 0
	copied []map[fileID]string // by root; names of prepared copies
	unlock func() error        // unlocks the roots; nil if they are not locked
}

// lockRoots waits until no other process changes anything in the roots of a record. They
// stay locked until unlock is called.
func lockRoots(ctx context.Context, record string, all []keptRoot) (unlock func() error, err error) {
	return lockFolders(ctx, layersBeside(record), eachPath(all, func(r *keptRoot) string { return r.Path }))
}

// layersBeside returns the folder of layers next to the records.
func layersBeside(record string) string { return LayersIn(filepath.Dir(filepath.Dir(record))) }

// announceSteps tells running trials which paths are about to change below them.
func announceSteps(record string, steps []step) error {
	return announceChanges(layersBeside(record), eachPath(steps, func(s *step) string { return s.Path }))
}

// errLocked means that another process works on a record.
var errLocked = errors.New("another umpire is working on it")

// openTransaction opens the roots of a journal. lock is the lock of its record.
func openTransaction(record string, lock *os.File, j *journal) (*transaction, error) {
	t := &transaction{journal: j, record: record, lock: lock, openRoots: openRoots{folder: openFolder{fd: -1}}}
	for i := range j.Roots {
		t.stages = append(t.stages, -1)
		if err := t.openRoot(&j.Roots[i]); err != nil {
			t.close()
			return nil, err
		}
	}
	return t, nil
}

// begin claims the record of a journal and opens its roots.
func (j *journal) begin(state string, vault Vault) (*transaction, error) {
	record, lock, err := claimRecord(state, j.ID)
	if err != nil {
		return nil, err
	}
	t, err := openTransaction(record, lock, j)
	if err != nil {
		return nil, errors.Join(err, os.Remove(record))
	}
	t.vault = vault
	return t, nil
}

// maxClaims limits how often the folder of a record is made, because another process may
// mistake it for a leftover of a crash and remove it.
const maxClaims = 10

// claimRecord makes and locks the folder of a record. An existing folder belongs to
// another process, or could not be recovered.
func claimRecord(state, id string) (record string, lock *os.File, err error) {
	record = filepath.Join(state, keptFolder, id)
	if err := os.MkdirAll(filepath.Dir(record), 0o700); err != nil {
		return "", nil, err
	}
	for range maxClaims {
		if err := os.Mkdir(record, 0o700); err != nil {
			return "", nil, err
		}
		lock, err = lockRecord(record)
		if err == nil {
			err = files.SyncFolder(filepath.Dir(record)) // its name must survive a power loss like its files
		}
		if err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errLocked) {
			break
		}
	}
	return record, lock, err
}

// lockRecord locks a record, so other processes do not mistake it for that of a dead process.
func lockRecord(record string) (*os.File, error) {
	lock, err := os.Open(record)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = errLocked
	}
	if err == nil {
		err = unix.Fstat(int(lock.Fd()), &st)
	}
	if err == nil && st.Nlink == 0 {
		err = fs.ErrNotExist // it was removed before it was locked
	}
	if err != nil {
		_ = lock.Close() // it was only locked
		return nil, err
	}
	return lock, nil
}

// close releases all folders and locks.
func (t *transaction) close() {
	t.forgetFolder()
	for _, fd := range append(t.roots, t.stages...) {
		if fd >= 0 {
			_ = unix.Close(fd) // opened for lookups only
		}
	}
	_ = t.lock.Close() // also unlocks it
	if t.unlock != nil {
		_ = t.unlock() // closing unlocks in any case
	}
}

// makeStages makes and opens the folders in which files are prepared.
func (t *transaction) makeStages() error {
	for i := range t.Roots {
		folder, name := t.stagePlace(i)
		if err := unix.Mkdirat(folder, name, 0o700); err != nil && !errors.Is(err, unix.EEXIST) {
			return &fs.PathError{Op: "make", Path: filepath.Join(t.Roots[i].Path, name), Err: err}
		}
	}
	return t.openStages()
}

// openStages opens the existing folders in which files are prepared.
func (t *transaction) openStages() (err error) {
	for i := range t.Roots {
		folder, name := t.stagePlace(i)
		fd, openErr := files.OpenBeneath(folder, name, unix.O_RDONLY|unix.O_DIRECTORY)
		if openErr != nil {
			err = errors.Join(err, &fs.PathError{Op: "open", Path: name, Err: openErr})
		}
		t.stages[i] = fd
	}
	return err
}

// stagePlace returns the folder and name of a root's stage.
func (t *transaction) stagePlace(root int) (folder int, name string) {
	if t.Roots[root].Apart {
		return t.roots[root], t.stageName()
	}
	return int(t.lock.Fd()), filesFolder
}

// stageOf returns the folder and name of a step's prepared file.
func (t *transaction) stageOf(i int) (folder int, name string) {
	return t.stages[t.Steps[i].Root], strconv.Itoa(i)
}

// run makes all changes durably, or none. Its error is for the user, who may try again.
func (t *transaction) run(ctx context.Context) error {
	if err := t.stage(ctx); err != nil {
		return errors.Join(err, t.drop())
	}
	return t.finish(ctx)
}

// finish makes the changes after everything is prepared.
func (t *transaction) finish(ctx context.Context) error {
	err := announceSteps(t.record, t.Steps)
	if err == nil {
		err = t.apply(ctx)
	}
	if err == nil {
		err = t.collectOld()
	}
	if err == nil {
		err = t.flush()
	}
	if err == nil {
		err = t.advance(stagedFile, appliedFile)
	}
	if err != nil {
		return errors.Join(err, t.rollBack())
	}
	return t.complete()
}

// complete removes our own folders from the project after all changes are made. If that
// fails, Recover does it later.
func (t *transaction) complete() error {
	if err := t.removeStages(); err != nil {
		return err
	}
	if err := t.setFolders(func(f *folderStep) Entry { return f.After }); err != nil {
		return err
	}
	if err := t.sealOld(); err != nil {
		return err
	}
	if err := t.advance(appliedFile, doneFile); err != nil {
		return err
	}
	return t.clean()
}

// advance records the progress. It takes no space.
func (t *transaction) advance(from, to string) error {
	return errors.Join(
		os.Rename(filepath.Join(t.record, from), filepath.Join(t.record, to)), unix.Fsync(int(t.lock.Fd())),
	)
}

// clean removes data that is no longer needed.
func (t *transaction) clean() error {
	errs := []error{files.RemoveTree(filepath.Join(t.record, mergedFolder))}
	if t.Layer != "" {
		errs = append(errs, removeLayer(t.Layer))
	}
	if t.Undoes != "" && len(t.Only) == 0 {
		errs = append(errs, markUndone(filepath.Join(filepath.Dir(t.record), t.Undoes), t.ID))
	}
	return errors.Join(errs...)
}

// markUndone notes that a record was undone, and deletes its files.
func markUndone(record, by string) error {
	if !files.Exists(record, journalFile) {
		return nil
	}
	return errors.Join(files.Replace(filepath.Join(record, undoneFile), []byte(by), 0o600),
		files.RemoveTree(filepath.Join(record, filesFolder)), files.RemoveTree(filepath.Join(record, afterFolder)))
}

// drop forgets a record that has left nothing in the project. It keeps the journal if
// leftovers cannot be removed, because only the journal knows about them.
func (t *transaction) drop() error {
	if err := t.removeStages(); err != nil {
		return err
	}
	var errs []error
	for i := range t.Folders {
		if f := &t.Folders[i]; f.Path == t.Roots[f.Root].Path && t.Roots[f.Root].Apart {
			errs = append(errs, setTimes(t.roots[f.Root], ".", f.Before))
		}
	}
	return errors.Join(append(errs, files.RemoveTree(t.record))...)
}

// removeStages removes the folders in the project in which files were prepared. It
// removes their entries by name relative to the open folders.
func (t *transaction) removeStages() error {
	for i := range t.Steps {
		s := &t.Steps[i]
		if !t.Roots[s.Root].Apart || t.stages[s.Root] < 0 {
			continue
		}
		folder, number := t.stageOf(i)
		if err := unix.Unlinkat(folder, number, 0); errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EPERM) {
			_ = unix.Unlinkat(folder, number, unix.AT_REMOVEDIR) // the next removal reports its leftovers
		}
	}
	for i := range t.Roots {
		if !t.Roots[i].Apart {
			continue
		}
		err := unix.Unlinkat(t.roots[i], t.stageName(), unix.AT_REMOVEDIR)
		if err != nil && !files.Missing(err) {
			return &fs.PathError{Op: "remove", Path: filepath.Join(t.Roots[i].Path, t.stageName()), Err: err}
		}
	}
	return nil
}
