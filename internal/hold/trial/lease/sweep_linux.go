package lease

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/umpirehq/umpire/internal/files"
)

// SweepCaches removes, below a folder of layers, the folders of projects that no longer exist
// or were replaced, folders unused for longer than age, and leftovers of crashes. It
// measures the others and removes those that are too large.
func SweepCaches(layers string, age time.Duration, now time.Time) error {
	entries, err := os.ReadDir(filepath.Join(layers, parent))
	errs := []error{files.IgnoreMissing(err)}
	for _, e := range entries {
		errs = append(errs, sweepProject(filepath.Join(layers, parent, e.Name()), age, now))
	}
	return errors.Join(errs...)
}

func sweepProject(dir string, age time.Duration, now time.Time) error {
	p, err := readProject(dir)
	key := ""
	if err == nil {
		key, err = p.key()
	}
	gone := err != nil || key != filepath.Base(dir)
	all, err := listFolders(dir)
	errs := []error{err}
	left := 0
	for _, path := range all {
		removed, err := sweepFolder(path, gone, age, now)
		errs = append(errs, err)
		if !removed {
			left++
		}
	}
	if left > 0 {
		return errors.Join(append(errs, trim(dir, p.Max, ""), removeGone(dir))...)
	}
	errs = append(errs, removeGone(dir), files.IgnoreMissing(os.Remove(filepath.Join(dir, projectFile))))
	_ = os.Remove(dir) // a command may have started to use it
	return errors.Join(errs...)
}

// sweepFolder removes an expired folder, or measures it.
func sweepFolder(path string, gone bool, age time.Duration, now time.Time) (removed bool, err error) {
	f, err := lock(path)
	if err != nil {
		return false, nil // in use or already removed
	}
	defer f.unlock()
	last := filepath.Join(path, doneFile)
	s, interrupted := f.state()
	switch {
	case interrupted != nil:
		last, age = path, crashAge
	case gone:
		age = 0
	}
	info, err := os.Lstat(last)
	if err == nil && now.Sub(info.ModTime()) >= age {
		return true, f.remove()
	}
	if err != nil || interrupted != nil {
		return false, err
	}
	s.Bytes = f.measure()
	return false, errors.Join(f.writeState(s), os.Chtimes(last, info.ModTime(), info.ModTime()))
}

// removeGone removes folders that a crash left half removed.
func removeGone(dir string) error {
	entries, err := os.ReadDir(dir)
	errs := []error{files.IgnoreMissing(err)}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), gonePrefix) {
			errs = append(errs, files.RemoveTree(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}
