package tool

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

const (
	// maxEdit is the maximum size of an edited file, which is kept in memory.
	maxEdit = 16 << 20
	// newFileMode is the mode of a new file, before the umask.
	newFileMode = 0o666
)

var writeTool = tool{
	about: "Writes a file, new or in place of the one that is there. Folders that are missing are made. " +
		"To change part of a file use Edit.",
	schema: `{"type":"object","required":["file_path","content"],"properties":{
		"file_path":{"type":"string","description":"the file, absolute or from the working directory"},
		"content":{"type":"string","description":"all that the file is to hold"}}}`,
	run: (*Set).changeFiles,
}

func writeChange(in input) (change, error) {
	content, err := in.must("content")
	apply := func(before *original) ([]byte, string, error) {
		if before == nil {
			return []byte(content), fmt.Sprintf("a new file of %d bytes", len(content)), nil
		}
		return []byte(content), fmt.Sprintf("%d bytes in place of %d", len(content), before.size), nil
	}
	return change{verb: "wrote", create: true, blind: true, apply: apply}, err
}

var errLarge = fmt.Errorf("is larger than %d bytes", maxEdit)

// stand returns the regular file at the place, or nil if it does not exist.
func (p *place) stand() (fs.FileInfo, error) {
	info, err := p.dir.Lstat(p.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = checkRegular(info)
	}
	return info, namePathOnce(p.path, err)
}

// replace atomically replaces a file's content. Readers see the old or the new content,
// even after a crash.
func (p *place) replace(before fs.FileInfo, content []byte) error {
	return namePathOnce(p.path, p.swap(before, content))
}

func (p *place) swap(before fs.FileInfo, content []byte) error {
	mode := fs.FileMode(newFileMode)
	if before != nil {
		mode = before.Mode().Perm()
	}
	temp := ".umpire-" + rand.Text() + ".tmp"
	f, err := p.dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	err = fillFile(f, content, before)
	if err == nil {
		err = p.unchanged(before)
	}
	if err == nil {
		err = p.dir.Rename(temp, p.name)
	}
	if err != nil {
		_ = p.dir.Remove(temp) // report the first error
	}
	return err
}

// fillFile writes the content to disk, and gives the file the permissions of the one
// that it replaces, regardless of the umask.
func fillFile(f *os.File, content []byte, before fs.FileInfo) error {
	_, err := f.Write(content)
	if err == nil && before != nil {
		err = f.Chmod(before.Mode().Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// unchanged rejects overwriting another process's changes.
func (p *place) unchanged(before fs.FileInfo) error {
	now, err := p.dir.Lstat(p.name)
	switch {
	case before == nil && errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil && before != nil:
		return err
	case before == nil, !os.SameFile(before, now), !before.ModTime().Equal(now.ModTime()), before.Size() != now.Size():
		return errors.New("it has changed since it was read: read it again")
	}
	return nil
}

// hold reads a whole file that is small enough to be edited.
func (p *place) hold() ([]byte, fs.FileInfo, error) {
	f, info, err := p.file()
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxEdit+1))
	if err == nil && len(data) > maxEdit {
		err = errLarge
	}
	return data, info, namePathOnce(p.path, err)
}
