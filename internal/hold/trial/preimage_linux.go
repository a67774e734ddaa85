package trial

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire/internal/files"
)

// copyFile copies an open file with its extended attributes. It shares blocks if the file
// system can, and preserves holes.
func copyFile(from *os.File, folder int, name string) error {
	to, err := createFile(folder, name)
	if err != nil {
		return err
	}
	if err = unix.IoctlFileClone(int(to.Fd()), int(from.Fd())); err != nil {
		err = copyParts(to, from)
	}
	if err == nil {
		err = copyExtended(int(from.Fd()), int(to.Fd()))
	}
	return errors.Join(err, to.Close())
}

// copyParts copies the parts of a file that are not holes.
func copyParts(to, from *os.File) error {
	info, err := from.Stat()
	if err != nil {
		return err
	}
	if err := to.Truncate(info.Size()); err != nil {
		return err
	}
	for at := int64(0); at < info.Size(); {
		start, err := unix.Seek(int(from.Fd()), at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) { // the rest is a hole
			return nil
		}
		if err != nil {
			return err
		}
		end, err := unix.Seek(int(from.Fd()), start, unix.SEEK_HOLE)
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.NewOffsetWriter(to, start), io.NewSectionReader(from, start, end-start)); err != nil {
			return err
		}
		at = end
	}
	return nil
}

// collectOld copies old files from roots on other file systems into the record. On the
// same file system they are already there.
func (t *transaction) collectOld() error {
	copied := map[fileID]string{}
	for i := range t.Steps {
		s := &t.Steps[i]
		if !t.Roots[s.Root].Apart || s.InPlace || !s.Before.Exists() {
			continue
		}
		to, err := t.openFiles()
		if err != nil {
			return err
		}
		err = t.collectOne(i, to, copied)
		closeFD(to)
		if err != nil {
			return err
		}
	}
	return nil
}

// openFiles opens the record's folder for old files.
func (t *transaction) openFiles() (int, error) {
	return files.OpenBeneath(int(t.lock.Fd()), filesFolder, unix.O_RDONLY|unix.O_DIRECTORY)
}

// collectOne copies the old file of one step.
func (t *transaction) collectOne(i, to int, copied map[fileID]string) error {
	s := &t.Steps[i]
	folder, name := t.stageOf(i)
	if err := unix.Unlinkat(to, name, 0); err != nil && !files.Missing(err) { // a partial copy of a dead process
		if err := unix.Unlinkat(to, name, unix.AT_REMOVEDIR); err != nil {
			return err
		}
	}
	return errors.Join(copyEntry(folder, name, to, name, s.Before, copied), setAttributes(to, name, s.Before))
}

// copyEntry copies a file, a link, or a folder without its entries. It does not copy
// modes or times. Using copied, it preserves hard links between files.
func copyEntry(folder int, base string, to int, name string, e Entry, copied map[fileID]string) error {
	switch {
	case e.Type.IsDir():
		if err := unix.Mkdirat(to, name, 0o700); err != nil {
			return err
		}
		return copyFolderNames(folder, base, to, name)
	case e.Type&fs.ModeSymlink != 0:
		return unix.Symlinkat(e.Link, to, name)
	}
	if first := copied[fileID{e.Device, e.Inode}]; first != "" {
		return unix.Linkat(to, first, to, name, 0)
	}
	copied[fileID{e.Device, e.Inode}] = name
	from, err := openFile(folder, base)
	if err != nil {
		return err
	}
	defer from.Close()
	return copyFile(from, to, name)
}

// copyFolderNames copies a folder's extended attributes to another folder.
func copyFolderNames(from int, name string, to int, as string) error {
	old, err := openLent(from, name)
	if err != nil {
		return err
	}
	defer closeFD(old)
	made, err := files.OpenBeneath(to, as, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer closeFD(made)
	return copyExtended(old, made)
}

// saveAfter copies a new text, so an undo can distinguish later changes and merge them.
func (t *transaction) saveAfter(i int) error {
	s := &t.Steps[i]
	if s.Secret || t.staged[i] == 0 || !s.Before.Exists() || !s.Before.Type.IsRegular() || !s.After.Type.IsRegular() ||
		max(s.Before.Size, s.After.Size) > maxMergeSize {
		return nil
	}
	folder, name := t.stageOf(i)
	return saveText(t.record, i, folder, name)
}

// saveText copies a file as the new text of a step if it can be merged.
func saveText(record string, i, folder int, name string) error {
	text, err := readText(folder, name)
	if err != nil || text == nil || !isMergeable(text) {
		return err
	}
	if err := os.MkdirAll(filepath.Join(record, afterFolder), 0o700); err != nil {
		return err
	}
	return replaceQuickly(filepath.Join(record, afterName(i)), text)
}

// afterName returns the name of a step's new text in a record.
func afterName(i int) string { return filepath.Join(afterFolder, strconv.Itoa(i)) }
