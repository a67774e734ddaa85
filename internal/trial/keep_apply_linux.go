package trial

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// order is how steps are applied: what goes away first, and of that the inner before the
// outer; then what comes or changes, the outer before the inner.
func (j *journal) order() []int {
	var going, coming []int
	for i := range j.Steps {
		if j.Steps[i].After.Exists() {
			coming = append(coming, i)
		} else {
			going = append(going, i)
		}
	}
	slices.Reverse(going)
	return append(going, coming...)
}

// apply makes all changes that have not been made yet.
func (t *transaction) apply(ctx context.Context) error {
	if err := t.unlockFolders(); err != nil {
		return err
	}
	for _, i := range t.order() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.applyStep(i); err != nil {
			return namePath(t.Steps[i].Path, err)
		}
	}
	return t.setFolders(func(f *folderStep) Entry { return f.After })
}

// applyStep makes one change, if it has not been made.
func (t *transaction) applyStep(i int) error {
	s := &t.Steps[i]
	if s.InPlace {
		return t.changeInPlace(s, s.Before, s.After)
	}
	if made, err := t.isMade(i); err != nil || made {
		return err
	}
	return t.swapStep(i, s.Before, s.After)
}

// swapStep moves what was made ready to a step's path, and what stood there to where it
// was made ready; out is what should stand there, and in what takes its place, either may
// be nothing. When something else comes out, somebody has put it there since it was looked
// at, and gets it back.
func (t *transaction) swapStep(i int, out, in Entry) error {
	s := &t.Steps[i]
	if s.isFolderStep() {
		t.forgetFolder()
	}
	parent, base, err := t.parentOf(s.Root, s.Path)
	if err != nil {
		return asConflict(s.Path, err)
	}
	folder, name := t.stageOf(i)
	if !out.Exists() {
		return asConflict(s.Path, unix.Renameat2(folder, name, parent, base, unix.RENAME_NOREPLACE))
	}
	how := uint(unix.RENAME_NOREPLACE)
	if in.Exists() {
		how = unix.RENAME_EXCHANGE
	}
	if err := unix.Renameat2(parent, base, folder, name, how); err != nil {
		return asConflict(s.Path, err)
	}
	taken, _, err := statAt(folder, name)
	if err == nil && isSameFile(&taken, &out) && (!taken.Type.IsDir() || isEmptyAt(folder, name)) {
		return nil
	}
	return errors.Join(err, unix.Renameat2(folder, name, parent, base, how), &ConflictError{Paths: []string{s.Path}})
}

// isMade reports whether a change has been made: what was made ready for it is not where
// it was, or what it takes away is there.
func (t *transaction) isMade(i int) (bool, error) {
	folder, name := t.stageOf(i)
	now, _, err := statAt(folder, name)
	if err != nil {
		return false, err
	}
	if t.staged[i] == 0 {
		return now.Exists(), nil
	}
	return now.Inode != t.staged[i], nil
}

// asConflict tells what somebody else has put in the way, or taken away, from other errors.
func asConflict(path string, err error) error {
	if errors.Is(err, unix.EEXIST) || files.Missing(err) || errors.Is(err, unix.ELOOP) {
		return &ConflictError{Paths: []string{path}}
	}
	return err
}

// namePath says which path an error is about, if it does not.
func namePath(path string, err error) error {
	if _, named := errors.AsType[*ConflictError](err); named {
		return err
	}
	return umpire.Errorf("%s: %w", path, err)
}

// isSameFile reports whether a file is the one that was looked at, and has not been
// written since.
func isSameFile(now, then *Entry) bool {
	if now.Inode != then.Inode || now.Type.Type() != then.Type.Type() {
		return false
	}
	return now.Type.IsDir() || now.Size == then.Size && now.ModTime.Equal(then.ModTime)
}

// isEmptyAt reports whether a folder holds nothing.
func isEmptyAt(folder int, name string) bool {
	fd, err := openLent(folder, name)
	if err != nil {
		return false
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	_, err = f.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

// changeInPlace gives a file other attributes. It must be the one that was looked at.
func (t *transaction) changeInPlace(s *step, from, to Entry) error {
	if s.After.Type.IsDir() {
		return nil // with the other folders, at the end
	}
	parent, base, err := t.parentOf(s.Root, s.Path)
	if err != nil {
		return err
	}
	now, _, err := statAt(parent, base)
	if err != nil {
		return err
	}
	if now.Inode != from.Inode || now.Size != from.Size {
		return &ConflictError{Paths: []string{s.Path}}
	}
	return setAttributes(parent, base, to)
}

// unlockFolders lets us write in folders of our own that nobody may write in, for as long
// as it takes.
func (t *transaction) unlockFolders() error {
	for i := range t.Folders {
		f := &t.Folders[i]
		if !f.Before.Exists() || canWrite(f.Before) {
			continue
		}
		parent, base, err := t.parentOf(f.Root, f.Path)
		if err != nil {
			return err
		}
		if err := setMode(parent, base, f.Before.Type|writable); err != nil {
			return namePath(f.Path, err)
		}
	}
	return nil
}

// writable are the permissions that it takes to change what is in a folder.
const writable = fs.FileMode(0o700)

// canWrite reports whether a folder of ours lets us change what is in it. Root always may,
// and folders of others stay as they are.
func canWrite(e Entry) bool {
	return os.Geteuid() == 0 || e.UID != os.Geteuid() || e.Type&writable == writable
}

// setFolders gives the folders their attributes, the inner before the outer.
func (t *transaction) setFolders(want func(*folderStep) Entry) error {
	for i := range slices.Backward(t.Folders) {
		f := &t.Folders[i]
		e := want(f)
		if !e.Exists() {
			continue
		}
		t.forgetFolder()
		parent, base, err := t.parentOf(f.Root, f.Path)
		if err == nil {
			err = setAttributes(parent, base, e)
		}
		if files.Missing(err) {
			continue // a rollback has taken it away, or never found it
		}
		if err != nil {
			return namePath(f.Path, err)
		}
	}
	return nil
}
