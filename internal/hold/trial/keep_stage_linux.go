package trial

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// open opens the file. It belongs to us, so its mode cannot prevent that.
func (c *content) open() (*os.File, error) {
	var rights loan
	defer rights.giveBack()
	fd, err := rights.open(c.folder, filepath.Dir(c.name))
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: c.name, Err: err}
	}
	defer closeFD(fd)
	opened, err := openLent(fd, filepath.Base(c.name))
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: c.name, Err: err}
	}
	return os.NewFile(uintptr(opened), c.name), nil
}

// stage writes the journal, prepares all new files and notes that they are ready. It
// changes nothing in the project except for a folder of ours in roots on another file
// system than umpire's.
func (t *transaction) stage(ctx context.Context) error {
	if err := writeJournal(t.record, t.journal); err != nil {
		return err
	}
	if err := os.MkdirAll(t.record+"/"+filesFolder, 0o700); err != nil {
		return err
	}
	if err := t.makeStages(); err != nil {
		return err
	}
	t.staged, t.copied = make([]uint64, len(t.Steps)), make([]map[fileID]string, len(t.Roots))
	for i := range t.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.stageStep(ctx, i); err != nil {
			return err
		}
		if err := t.saveAfter(i); err != nil {
			return err
		}
	}
	if err := t.flush(); err != nil {
		return err
	}
	return writeStaged(t.record, t.staged)
}

// stageStep prepares the new file of a step.
func (t *transaction) stageStep(ctx context.Context, i int) error {
	s := &t.Steps[i]
	if s.InPlace || !s.After.Exists() {
		return nil
	}
	folder, name := t.stageOf(i)
	var err error
	switch {
	case s.After.Type.IsDir():
		err = stageFolder(s, folder, name)
	case s.After.Type&fs.ModeSymlink != 0:
		if err = unix.Symlinkat(s.After.Link, folder, name); err == nil {
			err = setAttributes(folder, name, s.After)
		}
	case s.After.SameAs != "":
		err = t.stageLink(ctx, s, folder, name)
	default:
		err = t.stageFile(ctx, s, folder, name)
	}
	if err != nil {
		return namePath(s.Path, err)
	}
	e, _, err := statAt(folder, name)
	t.staged[i] = e.Inode
	return err
}

// stageFolder makes an empty folder. Its mode and times are set when its entries are complete.
func stageFolder(s *step, folder int, name string) error {
	if err := unix.Mkdirat(folder, name, 0o700); err != nil {
		return err
	}
	if s.from.name == "" {
		return nil
	}
	return copyFolderNames(s.from.folder, s.from.name, folder, name)
}

// stageLink prepares a hard link to another prepared file or to a file that stays in
// place.
func (t *transaction) stageLink(ctx context.Context, s *step, folder int, name string) error {
	i, found := slices.BinarySearchFunc(t.Steps, s.After.SameAs, func(other step, path string) int {
		return strings.Compare(other.Path, path)
	})
	if found && t.staged[i] != 0 {
		from, number := t.stageOf(i)
		return unix.Linkat(from, number, folder, name, 0)
	}
	parent, base, err := t.parentOf(s.Root, s.After.SameAs)
	if err != nil {
		return err
	}
	if err := unix.Linkat(parent, base, folder, name, 0); err != nil {
		return err
	}
	e, _, err := readAt(ctx, folder, name)
	if err == nil && e.Digest != s.After.Digest {
		err = &ConflictError{Paths: []string{s.After.SameAs}}
	}
	return err
}

// stageFile prepares a file from another one, as a hard link if possible and otherwise as
// a copy. Its content must match the approved digest.
func (t *transaction) stageFile(ctx context.Context, s *step, folder int, name string) error {
	f, err := s.from.open()
	if err != nil {
		return err
	}
	defer f.Close()
	e, _, err := readFile(ctx, f)
	if err != nil {
		return err
	}
	if e.Digest != s.After.Digest {
		return ErrLayerChanged
	}
	if err := dropOverlayNames(int(f.Fd())); err != nil {
		return err
	}
	if len(t.Only) > 0 { // a partly undone record keeps its files
		err = unix.EXDEV
	} else {
		err = unix.Linkat(unix.AT_FDCWD, procPath(int(f.Fd())), folder, name, unix.AT_SYMLINK_FOLLOW)
	}
	if isUnlinkable(err) {
		err = t.stageCopy(ctx, s, f, e, name)
	}
	if err != nil {
		return err
	}
	return setAttributes(folder, name, s.After)
}

// stageCopy prepares a copy of a file. Hard links to one file stay hard links to one file.
func (t *transaction) stageCopy(ctx context.Context, s *step, f *os.File, e Entry, name string) error {
	folder, id := t.stages[s.Root], fileID{e.Device, e.Inode}
	if first := t.copied[s.Root][id]; first != "" {
		return unix.Linkat(folder, first, folder, name, 0)
	}
	if err := copyFile(f, folder, name); err != nil {
		return err
	}
	if t.copied[s.Root] == nil {
		t.copied[s.Root] = map[fileID]string{}
	}
	t.copied[s.Root][id] = name
	copied, _, err := readAt(ctx, folder, name)
	if err == nil && copied.Digest != s.After.Digest {
		err = ErrLayerChanged
	}
	return err
}

// isUnlinkable reports whether a failed link requires a copy instead.
func isUnlinkable(err error) bool {
	return errors.Is(err, unix.EXDEV) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EMLINK) ||
		errors.Is(err, unix.EOPNOTSUPP)
}

// procPath returns a path to an open file.
func procPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// createFile creates a file that does not exist yet.
func createFile(folder int, name string) (*os.File, error) {
	fd, err := unix.Openat(folder, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

func closeFD(fd int) { _ = unix.Close(fd) } // opened for lookups only

// maxFlushed limits how many files are flushed one by one. Beyond it, or if old files are
// copied to another file system, the whole file system is flushed.
const maxFlushed = 32

// flush makes all changes so far survive a power loss.
func (t *transaction) flush() error {
	apart := slices.ContainsFunc(t.Roots, func(r keptRoot) bool { return r.Apart })
	if apart || len(t.Steps) > maxFlushed {
		return t.flushAll()
	}
	for i := range t.Steps {
		s := &t.Steps[i]
		folder, name := t.stageOf(i)
		if err := errors.Join(flushAt(folder, name), flushAt(int(t.lock.Fd()), afterName(i))); err != nil {
			return err
		}
		if parent, base, err := t.parentOf(s.Root, s.Path); err == nil {
			if err := errors.Join(flushAt(parent, base), flushAt(parent, ".")); err != nil {
				return err
			}
		}
		t.forgetFolder()
	}
	for _, fd := range t.stages {
		if err := unix.Fsync(fd); err != nil {
			return err
		}
	}
	return flushAt(int(t.lock.Fd()), afterFolder)
}

func (t *transaction) flushAll() error {
	for _, fd := range append([]int{int(t.lock.Fd())}, t.stages...) {
		if err := unix.Syncfs(fd); err != nil {
			return err
		}
	}
	return nil
}

// flushAt flushes a regular file or a folder, if it exists.
func flushAt(folder int, name string) error {
	e, _, err := statAt(folder, name)
	if err != nil || !e.Type.IsRegular() && !e.Type.IsDir() || !e.Exists() {
		return err
	}
	fd, err := openLent(folder, name)
	if errors.Is(err, unix.EACCES) { // not readable, so not written here
		return nil
	}
	if err != nil {
		return err
	}
	defer closeFD(fd)
	return unix.Fsync(fd)
}
