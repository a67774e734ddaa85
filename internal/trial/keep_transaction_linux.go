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

// A transaction makes the changes of one journal, all of them or none. It acts on folders
// that are open: the roots, and those below them that it opens without following a link.
// Files are exchanged for those that were made ready, and what comes out is looked at
// before the next one, so that nothing that somebody else wrote is lost.
type transaction struct {
	*journal
	openRoots

	record string
	lock   *os.File            // the record's folder, locked as long as a process works on it
	stages []int               // by root; where new files are made ready, and old ones go
	staged []uint64            // by step; the inode of what was made ready, 0 for nothing
	copied []map[fileID]string // by root; where copies of files were made ready
}

// errLocked says that another process works on a record.
var errLocked = errors.New("another umpire is working on it")

func newTransaction(record string, j *journal) *transaction {
	return &transaction{journal: j, record: record, openRoots: openRoots{folder: openFolder{fd: -1}}}
}

// openTransaction opens the roots of a journal, and its record.
func openTransaction(record string, j *journal) (*transaction, error) {
	t := newTransaction(record, j)
	err := t.lockRecord()
	for i := range j.Roots {
		if err == nil {
			t.stages = append(t.stages, -1)
			err = t.openRoot(&j.Roots[i])
		}
	}
	if err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// lockRecord keeps other processes from taking this one's work for that of a dead one.
func (t *transaction) lockRecord() (err error) {
	if t.lock, err = os.Open(t.record); err != nil {
		return err
	}
	err = unix.Flock(int(t.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errLocked
	}
	return err
}

// close lets go of everything, and of the lock.
func (t *transaction) close() {
	t.forgetFolder()
	for _, fd := range append(t.roots, t.stages...) {
		if fd >= 0 {
			_ = unix.Close(fd) // a folder that was looked through
		}
	}
	if t.lock != nil {
		_ = t.lock.Close() // which unlocks it
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

// run makes all changes for good, or none. What it returns is said to the person, who may
// try again.
func (t *transaction) run(ctx context.Context) error {
	if err := t.stage(ctx); err != nil {
		return errors.Join(err, t.drop())
	}
	return t.finish(ctx)
}

// finish goes on from the moment at which all is ready.
func (t *transaction) finish(ctx context.Context) error {
	err := t.apply(ctx)
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

// complete takes our own folders out of the project when all is there. What cannot be
// taken out now is when umpire starts the next time.
func (t *transaction) complete() error {
	if err := t.removeStages(); err != nil {
		return err
	}
	if err := t.setFolders(func(f *folderStep) Entry { return f.After }); err != nil {
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

// markUndone notes that a record was taken back. What it remembers is not needed any more.
func markUndone(record, by string) error {
	if !files.Exists(record, journalFile) {
		return nil
	}
	return errors.Join(files.Replace(filepath.Join(record, undoneFile), []byte(by), 0o600),
		files.RemoveTree(filepath.Join(record, filesFolder)), files.RemoveTree(filepath.Join(record, afterFolder)))
}

// drop forgets a record of which nothing is left in the project.
func (t *transaction) drop() error {
	errs := []error{t.removeStages()}
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
