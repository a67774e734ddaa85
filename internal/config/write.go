package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
	"github.com/umpirehq/umpire/internal/files"
)

// Write sets one key of a configuration file to a list. Every other byte of the file stays. The
// file is replaced in one step, and only by one that can be read.
func Write(file string, path, list []string) error {
	return rewrite(file, func(d *docedit.Doc) (*docedit.Doc, error) {
		return d.Set(append([]string{}, list...), path...)
	})
}

// WriteDestinations writes the list of autonomy.destinations into a configuration file, as Write does. The caller has
// checked the entries.
func WriteDestinations(file string, listed []string) error {
	return rewrite(file, func(d *docedit.Doc) (*docedit.Doc, error) {
		return setKey(d, destinationsKey, append([]string{}, listed...))
	})
}

// WriteObserve writes whether umpire only observes into a configuration file.
func WriteObserve(file string, on bool) error {
	return rewrite(file, func(d *docedit.Doc) (*docedit.Doc, error) { return setKey(d, "hook.observe", on) })
}

// setKey sets a key where the file has it: nested, or with dots in its name.
func setKey(d *docedit.Doc, key string, value any) (*docedit.Doc, error) {
	path := strings.Split(key, ".")
	if d.Root.At(key).Parent != nil {
		path = []string{key}
	}
	return d.Set(value, path...)
}

// rewrite changes a configuration file.
func rewrite(file string, change func(*docedit.Doc) (*docedit.Doc, error)) error {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	d, err := open(file)
	if err == nil {
		d, err = change(d)
	}
	if err != nil {
		return umpire.Errorf("%s: %w", file, err)
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return files.Replace(file, d.Bytes(), mode)
}
