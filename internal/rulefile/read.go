package rulefile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/umpirehq/umpire"
)

// maxFileSize is the largest rule file that is read, in bytes.
const maxFileSize = 4 << 20

// A content is the whole text of a file.
type content struct {
	data []byte
	mode fs.FileMode
	// guarded says that only the administrator can have written the file.
	guarded bool
}

// readRegular returns a regular file's content. It never blocks: a pipe, a device or a
// folder in a rule file's place is an error. A link is followed. Only a file
// that is not there at all is fs.ErrNotExist; a dangling link is another error.
func readRegular(path string, limit int64) (content, error) {
	info, err := os.Stat(path)
	if err != nil {
		return content{}, absentError(path, err)
	}
	if !info.Mode().IsRegular() {
		return content{}, umpire.Errorf("read %s: not a regular file", escapeControl(path))
	}
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return content{}, absentError(path, err)
	}
	defer f.Close()
	return readOpen(f, path, limit)
}

// readOpen reads an open file. It checks the file again, because the name may refer to
// another file by now.
func readOpen(f *os.File, path string, limit int64) (content, error) {
	info, err := f.Stat()
	if err != nil {
		return content{}, err
	}
	if !info.Mode().IsRegular() {
		return content{}, umpire.Errorf("read %s: not a regular file", escapeControl(path))
	}
	data := bytes.NewBuffer(make([]byte, 0, min(info.Size(), limit)+bytes.MinRead))
	if _, err := data.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return content{}, umpire.Errorf("read %s: %w", escapeControl(path), err)
	}
	if int64(data.Len()) > limit {
		return content{}, umpire.Errorf("read %s: larger than %d bytes", escapeControl(path), limit)
	}
	guarded := ownedByAdmin(info) && folderOwnedByAdmin(path)
	return content{data: data.Bytes(), mode: info.Mode().Perm(), guarded: guarded}, nil
}

// OwnedByAdmin reports whether only the administrator can change a file: root owns it and
// its folder, and others cannot write them. It returns true for a missing file.
func OwnedByAdmin(path string) bool {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return err == nil && ownedByAdmin(info) && folderOwnedByAdmin(path)
}

func folderOwnedByAdmin(path string) bool {
	info, err := os.Stat(filepath.Dir(path))
	return err == nil && ownedByAdmin(info)
}

// absentError turns the ways in which a file can be missing into fs.ErrNotExist, and
// keeps a dangling link from being one of them.
func absentError(path string, err error) error {
	if _, lstatErr := os.Lstat(path); lstatErr == nil {
		return umpire.Errorf("read %s: %w", escapeControl(path), unwrapPath(err))
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return fs.ErrNotExist
	}
	return umpire.Errorf("read %s: %w", escapeControl(path), unwrapPath(err))
}

// unwrapPath drops the operation and the path of a PathError, and the sentinel
// of a missing file, which a dangling link must not pass for.
func unwrapPath(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("link to a file that does not exist")
	}
	return err
}
