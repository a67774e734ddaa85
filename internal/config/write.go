package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/hold/egress"
)

// Write sets one key of a configuration file to a list. Every other byte of the file stays. The
// file is replaced in one step, and only by one that can be read.
func Write(file string, path, list []string) error {
	return rewrite(file, func(d *docedit.Doc) (*docedit.Doc, error) {
		return d.Set(append([]string{}, list...), path...)
	})
}

// WriteDestinations writes the list of autonomy.destinations into a configuration file, as Write does. An error names a
// wrong entry.
func WriteDestinations(file string, listed []string) error {
	if _, err := egress.ParseList(listed); err != nil {
		return err
	}
	return rewrite(file, func(d *docedit.Doc) (*docedit.Doc, error) {
		path := strings.Split(destinationsKey, ".")
		if d.Root.At(destinationsKey).Parent != nil {
			path = []string{destinationsKey}
		}
		return d.Set(append([]string{}, listed...), path...)
	})
}

// WriteObserve writes whether umpire only observes into a configuration file.
func WriteObserve(file string, on bool) error {
	return rewrite(file, func(d *docedit.Doc) (*docedit.Doc, error) {
		path := []string{"hook", "observe"}
		if d.Root.At("hook.observe").Parent != nil {
			path = []string{"hook.observe"}
		}
		return d.Set(on, path...)
	})
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
