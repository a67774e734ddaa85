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

// ErrNotRegular is returned when a file to be read is not a regular file.
var ErrNotRegular = errors.New("not a regular file")

// ReadSmall reads a file that somebody else may have made. It neither blocks
// on a named pipe nor reads more than limit bytes: a hook that hangs is a hook
// that the agent's host passes over.
func ReadSmall(name string, limit int64) ([]byte, error) {
	f, err := OpenSmall(name, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// Glob returns the paths below a folder that fit a pattern of [path.Match], which has slashes. Only
// the pattern's characters are special, not the folder's. A pattern that is not valid fits nothing.
func Glob(dir, pattern string) []string {
	found, _ := fs.Glob(os.DirFS(dir), pattern)
	for i, name := range found {
		found[i] = filepath.Join(dir, filepath.FromSlash(name))
	}
	return found
}

// OpenSmall opens a regular file of limit bytes at most.
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
		_ = f.Close() // it was only looked at
		return nil, err
	}
	return f, nil
}

// maxLineFile bounds a file of one line.
const maxLineFile = 1 << 20

// ReadLine returns the content of a one-line file without its end of line.
func ReadLine(name string) (string, error) {
	data, err := ReadSmall(name, maxLineFile)
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(data), "\r\n"), nil
}

// OpenFolder opens a folder. It returns nil and no error if the path is not a folder. It
// never opens anything else, since opening a named pipe blocks.
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

// Exists reports whether a folder has an entry of that name.
func Exists(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

// Clip returns the beginning of a text of unknown origin, as an error quotes it.
func Clip(text string) string { return ClipTo(text, 80, "") }

// ClipTo returns at most limit bytes of a text, cut between characters. The mark follows a
// text that was cut.
func ClipTo(text string, limit int, mark string) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + mark
}

// IgnoreMissing returns err, or nil if it says that a file does not exist.
func IgnoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Missing reports whether err says that there is no such file.
func Missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
