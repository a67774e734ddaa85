package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/umpirehq/umpire"
)

// ErrNotRegular is returned if a file to be read is not a regular file.
var ErrNotRegular = errors.New("not a regular file")

// ReadSmall reads an untrusted file. It neither blocks on a named pipe nor reads more
// than limit bytes, because the agent's host ignores a hook that hangs.
func ReadSmall(name string, limit int64) ([]byte, error) {
	f, err := OpenSmall(name, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// Glob returns the paths below a folder that match a [path.Match] pattern with slashes. Special
// characters in the folder's name are not interpreted. An invalid pattern matches nothing.
func Glob(dir, pattern string) []string {
	found, _ := fs.Glob(os.DirFS(dir), pattern)
	for i, name := range found {
		found[i] = filepath.Join(dir, filepath.FromSlash(name))
	}
	return found
}

// OpenSmall opens a regular file of at most limit bytes.
func OpenSmall(name string, limit int64) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = umpire.Errorf("read %q: %w", name, ErrNotRegular)
	case info.Size() > limit:
		err = umpire.Errorf("read %q: more than %d bytes", name, limit)
	}
	if err != nil {
		_ = f.Close() // it was only examined
		return nil, err
	}
	return f, nil
}

// maxLineFile limits the size of a one-line file.
const maxLineFile = 1 << 20

// ReadLine returns the content of a one-line file without its line ending.
func ReadLine(name string) (string, error) {
	data, err := ReadSmall(name, maxLineFile)
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(data), "\r\n"), nil
}

// OpenFolder opens a folder. It returns nil and no error if the path is not a folder. It
// never opens anything else, because opening a named pipe blocks.
func OpenFolder(dir string) (*os.File, error) {
	info, err := os.Stat(dir)
	if Missing(err) || err == nil && !info.IsDir() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return os.Open(dir)
}

// Exists reports whether a folder has an entry with this name.
func Exists(dir, name string) bool {
	_, exists, _ := isLink(filepath.Join(dir, name)) // a folder that cannot be searched shows no entries
	return exists
}

// IsFolder reports whether a path leads to a folder.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Clip returns the beginning of an untrusted text, for quoting in an error.
func Clip(text string) string { return ClipTo(text, 80, "") }

// ClipTo returns at most limit bytes of a text, cut between characters. It appends mark
// if it cuts the text.
func ClipTo(text string, limit int, mark string) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + mark
}

// IgnoreMissing returns err, or nil if err means that a file does not exist.
func IgnoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Missing reports whether err means that a file does not exist.
func Missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
