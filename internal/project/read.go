package project

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

var errNotRegular = errors.New("not a regular file")

// readSmall reads a file that somebody else may have made. It neither blocks
// on a named pipe nor reads more than limit bytes: a hook that hangs is a hook
// that the agent's host passes over.
func readSmall(name string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %q: %w", name, errNotRegular)
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("read %q: more than %d bytes", name, limit)
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

// readLine returns the content of a one-line file without its end of line.
func readLine(name string) (string, error) {
	data, err := readSmall(name, maxGitFile)
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(data), "\r\n"), nil
}

// openFolder opens a folder; nil without an error is no folder. It never opens
// anything else, since opening a named pipe blocks.
func openFolder(dir string) (*os.File, error) {
	info, err := os.Stat(dir)
	if missing(err) || err == nil && !info.IsDir() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return os.Open(dir)
}
