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
	"github.com/umpirehq/umpire/internal/trial/overlap"
)

// A transaction makes the changes of one journal, all of them or none. It acts on folders
// that are open: the roots, and those below them that it opens without following a link.
// Files are exchanged for those that were made ready, and what comes out is looked at
// before the next one, so that nothing that somebody else wrote is lost.
type transaction struct {
	*journal
	openRoots

	vault  Vault // nil where nothing is sealed
	record string
	lock   *os.File            // the record's folder, locked as long as a process works on it
	stages []int               // by root; where new files are made ready, and old ones go
	staged []uint64            // by step; the inode of what was made ready, 0 for nothing
	copied []map[fileID]string // by root; where copies of files were made ready
	unlock func() error        // of the roots; nil while they are not locked
}

// lockRoots waits until no other process changes something in the roots of a record. They are locked until unlock is
// called.
func lockRoots(ctx context.Context, record string, all []keptRoot) (unlock func() error, err error) {
	return overlap.Lock(ctx, layersBeside(record), overlap.Each(all, func(r *keptRoot) string { return r.Path }))
}

// layersBeside is the folder of layers beside the records.
func layersBeside(record string) string { return LayersIn(filepath.Dir(filepath.Dir(record))) }

// announceSteps tells running trials which paths are about to change below them.
func announceSteps(record string, steps []step) error {
	return overlap.Announce(layersBeside(record), overlap.Each(steps, func(s *step) string { return s.Path }))
}

// errLocked says that another process works on a record.
var errLocked = errors.New("another umpire is working on it")

// openTransaction opens the roots of a journal. The lock is on its record.
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

// maxClaims is how often the folder of a record is made, when another process takes it for
// one that a crash has left, and removes it.
const maxClaims = 10

// claimRecord makes the folder of a record, and locks it. One that is there belongs to
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
			err = files.SyncFolder(filepath.Dir(record)) // its name lasts as its files do
		}
		if err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errLocked) {
			break
		}
	}
	return record, lock, err
}

// lockRecord keeps other processes from taking this one's work for that of a dead one.
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
		_ = lock.Close() // nothing was done with it
		return nil, err
	}
	return lock, nil
}

// close lets go of everything, and of the lock.
func (t *transaction) close() {
	t.forgetFolder()
	for _, fd := range append(t.roots, t.stages...) {
		if fd >= 0 {
			_ = unix.Close(fd) // a folder that was looked through
		}
	}
	_ = t.lock.Close() // which unlocks it
	if t.unlock != nil {
		_ = t.unlock() // closing unlocks in any case
	}
}

// makeStages makes the folders in which files are made ready, and opens them.
func (t *transaction) makeStages() error {
	for i := range t.Roots {
		folder, name := t.stagePlace(i)
		if err := unix.Mkdirat(folder, name, 0o700); err != nil && !errors.Is(err, unix.EEXIST) {
			return &fs.PathError{Op: "make", Path: filepath.Join(t.Roots[i].Path, name), Err: err}
		}
	}
	return t.openStages()
}

// openStages opens the folders in which files are made ready, as many as there are.
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

// stagePlace is where the files of a root are made ready.
func (t *transaction) stagePlace(root int) (folder int, name string) {
	if t.Roots[root].Apart {
		return t.roots[root], t.stageName()
	}
	return int(t.lock.Fd()), filesFolder
}

// stageOf is where a step's file was made ready.
func (t *transaction) stageOf(i int) (folder int, name string) {
	return t.stages[t.Steps[i].Root], strconv.Itoa(i)
}

// run makes all changes for good, or none. Its error is for the person, who may try again.
func (t *transaction) run(ctx context.Context) error {
	if err := t.stage(ctx); err != nil {
		return errors.Join(err, t.drop())
	}
	return t.finish(ctx)
}

// finish goes on from the moment at which all is ready.
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

// complete takes our own folders out of the project when all is there. Where that fails,
// Recover does it.
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

// advance says how far the record has come. It takes no space.
func (t *transaction) advance(from, to string) error {
	return errors.Join(
		os.Rename(filepath.Join(t.record, from), filepath.Join(t.record, to)), unix.Fsync(int(t.lock.Fd())),
	)
}

// clean removes what is not needed when all is done.
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

// markUndone notes that a record was taken back, and deletes the files in it.
func markUndone(record, by string) error {
	if !files.Exists(record, journalFile) {
		return nil
	}
	return errors.Join(files.Replace(filepath.Join(record, undoneFile), []byte(by), 0o600),
		files.RemoveTree(filepath.Join(record, filesFolder)), files.RemoveTree(filepath.Join(record, afterFolder)))
}

// drop forgets a record of which nothing is left in the project.
// Without its journal nobody would know of what could not be removed there.
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

// removeStages removes the folders in the project in which files were made ready. Their
// parts are removed by their names in those very folders.
func (t *transaction) removeStages() error {
	for i := range t.Steps {
		s := &t.Steps[i]
		if !t.Roots[s.Root].Apart || t.stages[s.Root] < 0 {
			continue
		}
		folder, number := t.stageOf(i)
		if err := unix.Unlinkat(folder, number, 0); errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EPERM) {
			_ = unix.Unlinkat(folder, number, unix.AT_REMOVEDIR) // what is in it is said next
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
