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

// order returns the order in which steps are applied: first deletions, inner before
// outer, then creations and changes, outer before inner.
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

// apply makes all changes that are still missing.
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

// applyStep makes one change unless it is already made.
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

// swapStep exchanges the prepared file with the file at a step's path. out is the entry
// expected at the path and in is the new one; either may be zero. If something else comes
// out, another program has put it there since the check, and swapStep puts it back.
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

// isMade reports whether a change has been made: the prepared file has left its stage, or
// the removed file is there.
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

// asConflict converts errors caused by another program's files to conflicts.
func asConflict(path string, err error) error {
	if errors.Is(err, unix.EEXIST) || files.Missing(err) || errors.Is(err, unix.ELOOP) {
		return &ConflictError{Paths: []string{path}}
	}
	return err
}

// namePath adds the path to an error that does not name one.
func namePath(path string, err error) error {
	if _, named := errors.AsType[*ConflictError](err); named {
		return err
	}
	return umpire.Errorf("%s: %w", path, err)
}

// isSameFile reports whether a file is still the one that was checked and has not been
// written since.
func isSameFile(now, then *Entry) bool {
	if now.Inode != then.Inode || now.Type.Type() != then.Type.Type() {
		return false
	}
	return now.Type.IsDir() || now.Size == then.Size && now.ModTime.Equal(then.ModTime)
}

// isEmptyAt reports whether a folder is empty.
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

// changeInPlace changes a file's attributes. It must still be the file that was checked.
func (t *transaction) changeInPlace(s *step, from, to Entry) error {
	if s.After.Type.IsDir() {
		return nil // its attributes are set with the other folders, at the end
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

// unlockFolders makes our own read-only folders writable for the duration of the
// transaction.
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

// writable are the permissions needed to change a folder's entries.
const writable = fs.FileMode(0o700)

// canWrite reports whether a folder needs no unlocking: root may always write, and
// folders of other users stay as they are.
func canWrite(e Entry) bool {
	return os.Geteuid() == 0 || e.UID != os.Geteuid() || e.Type&writable == writable
}

// setFolders sets the attributes of the folders, inner before outer.
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
			continue // a rollback has removed it, or never found it
		}
		if err != nil {
			return namePath(f.Path, err)
		}
	}
	return nil
}
