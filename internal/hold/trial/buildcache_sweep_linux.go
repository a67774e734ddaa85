package trial

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/umpirehq/umpire/internal/files"
)

// sweepCaches removes, below a folder of layers, the folders of projects that no longer exist
// or were replaced, folders unused for longer than age, and leftovers of crashes. It
// measures the others and removes those that are too large.
func sweepCaches(layers string, age time.Duration, now time.Time) error {
	entries, err := os.ReadDir(filepath.Join(layers, cachesFolder))
	errs := []error{files.IgnoreMissing(err)}
	for _, e := range entries {
		errs = append(errs, sweepProjectCaches(filepath.Join(layers, cachesFolder, e.Name()), age, now))
	}
	return errors.Join(errs...)
}

func sweepProjectCaches(dir string, age time.Duration, now time.Time) error {
	p, err := readCacheProject(dir)
	key := ""
	if err == nil {
		key, err = p.key()
	}
	gone := err != nil || key != filepath.Base(dir)
	all, err := listCaches(dir)
	errs := []error{err}
	left := 0
	for _, path := range all {
		removed, err := sweepCache(path, gone, age, now)
		errs = append(errs, err)
		if !removed {
			left++
		}
	}
	if left > 0 {
		return errors.Join(append(errs, trimCaches(dir, p.Max, ""), removeGoneCaches(dir))...)
	}
	errs = append(errs, removeGoneCaches(dir), files.IgnoreMissing(os.Remove(filepath.Join(dir, cacheProjectFile))))
	_ = os.Remove(dir) // a command may have started to use it
	return errors.Join(errs...)
}

// sweepCache removes an expired folder, or measures it.
func sweepCache(path string, gone bool, age time.Duration, now time.Time) (removed bool, err error) {
	f, err := lockCache(path)
	if err != nil {
		return false, nil // in use or already removed
	}
	defer f.unlock()
	last := filepath.Join(path, idleFile)
	s, interrupted := f.state()
	switch {
	case interrupted != nil:
		last, age = path, cacheCrashAge
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

// removeGoneCaches removes folders that a crash left half removed.
func removeGoneCaches(dir string) error {
	entries, err := os.ReadDir(dir)
	errs := []error{files.IgnoreMissing(err)}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), goneCachePrefix) {
			errs = append(errs, files.RemoveTree(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}
