package trial

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// eachPath returns the path of each element of a list.
func eachPath[T any](list []T, path func(*T) string) []string {
	paths := make([]string, len(list))
	for i := range list {
		paths[i] = path(&list[i])
	}
	return paths
}

// Trials run at the same time and share the folders of a project. A trial registers before its command starts. A keep,
// an undo or a recovery locks the folders that it changes, and announces all paths to the affected trials before its
// first change. If the [registration.changed] of a trial is empty after its command has ended, the trial saw one
// consistent state of the project. The kernel releases all locks when a process dies, so no recovery is needed.

// The registry has its own folder next to the layers. It holds one file per running
// trial, locked by that trial, and one file for the locks of folders.
const (
	runningFolder  = "running"
	trialPrefix    = "run-"
	newTrialPrefix = "new-"
	newTrialAge    = time.Hour
	runningLock    = "lock"
)

// A registration is a running trial. The first line of its file lists the covered folders. Each
// further line is a path that changed below it.
type registration struct{ file *os.File }

// registerTrial registers a trial over some folders, in the folder that holds the layers. It
// waits for ongoing changes in these folders, but not for other trials.
func registerTrial(ctx context.Context, layers string, roots []string) (*registration, error) {
	dir := filepath.Join(layers, runningFolder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, newTrialPrefix)
	if err != nil {
		return nil, err
	}
	t := &registration{f}
	if err := t.register(roots); err != nil {
		return nil, errors.Join(err, t.unregister())
	}
	unlock, err := lockFolders(ctx, layers, roots)
	if err != nil {
		return nil, errors.Join(err, t.unregister())
	}
	return t, unlock()
}

// register locks the file before giving it the name that other processes look for.
func (t *registration) register(roots []string) error {
	line, err := json.Marshal(eachPath(roots, func(root *string) string { return umpire.EscapePath(*root) }))
	if err != nil {
		return err
	}
	if err := unix.Flock(int(t.file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return err
	}
	if _, err := t.file.Write(append(line, '\n')); err != nil {
		return err
	}
	dir, name := filepath.Split(t.file.Name())
	return os.Rename(t.file.Name(), filepath.Join(dir, trialPrefix+name))
}

// changed returns the paths announced since registerTrial. Call it after the command has ended.
func (t *registration) changed() ([]string, error) {
	_, changed, err := readRegistration(t.file)
	return changed, err
}

// unregister removes the trial from the registry.
func (t *registration) unregister() error {
	dir, name := filepath.Split(t.file.Name())
	var errs []error
	for _, path := range []string{t.file.Name(), filepath.Join(dir, trialPrefix+name)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, t.file.Close())...)
}

// announceChanges tells the running trials which paths are about to change. It also removes the
// files of trials whose process has died.
func announceChanges(layers string, paths []string) error {
	dir := filepath.Join(layers, runningFolder)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return files.IgnoreMissing(err)
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		switch info, err := e.Info(); {
		case strings.HasPrefix(e.Name(), trialPrefix):
			if err := announceTo(name, paths); err != nil {
				return err
			}
		case strings.HasPrefix(e.Name(), newTrialPrefix) && err == nil && time.Since(info.ModTime()) > newTrialAge:
			_ = os.Remove(name) // the process died before registering the trial
		}
	}
	return nil
}

func announceTo(name string, paths []string) error {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND|unix.O_NOFOLLOW, 0)
	if err != nil {
		return files.IgnoreMissing(err)
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) == nil {
		return files.IgnoreMissing(os.Remove(name)) // its process has died, and so has its command
	}
	roots, _, err := readRegistration(f)
	if err != nil {
		return umpire.Errorf("read %q: %w", name, err)
	}
	var lines []byte
	for _, path := range paths {
		if !files.WithinAny(roots, path) {
			continue
		}
		line, err := json.Marshal(umpire.EscapePath(path))
		if err != nil {
			return err
		}
		lines = append(append(lines, line...), '\n')
	}
	if len(lines) == 0 {
		return nil
	}
	_, err = f.Write(lines)
	return err
}

// maxRegistryLine limits a line of a trial's file. A path has at most 4,096 bytes, and the first line holds a few of
// them.
const maxRegistryLine = 1 << 20

// readRegistration reads the folders of a trial and the paths announced to it.
func readRegistration(f *os.File) (roots, changed []string, err error) {
	if _, err := f.Seek(0, 0); err != nil {
		return nil, nil, err
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxRegistryLine)
	lines.Scan()
	if err := json.Unmarshal(lines.Bytes(), &roots); err != nil {
		return nil, nil, err
	}
	for i := range roots {
		if roots[i], err = umpire.UnescapePath(roots[i]); err != nil {
			return nil, nil, err
		}
	}
	for lines.Scan() {
		path := ""
		if err := json.Unmarshal(lines.Bytes(), &path); err != nil {
			return nil, nil, err
		}
		if path, err = umpire.UnescapePath(path); err != nil {
			return nil, nil, err
		}
		changed = append(changed, path)
	}
	slices.Sort(changed)
	return roots, slices.Compact(changed), lines.Err()
}

// lockRetry is the interval at which a locked folder is tried again.
const lockRetry = 2 * time.Millisecond

// lockFolders waits until no other process changes one of the folders, a folder below or one
// above. It keeps others out until unlock is called or the process ends.
func lockFolders(ctx context.Context, layers string, roots []string) (unlock func() error, err error) {
	dir := filepath.Join(layers, runningFolder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, runningLock), os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		locked, err := tryLockFolders(f, roots)
		if locked && err == nil {
			return f.Close, nil // also unlocks it
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), f.Close())
		case <-time.After(lockRetry):
		}
	}
}

// tryLockFolders takes a write lock on one byte of the file per folder, and read locks for the parent
// folders. If any of them is taken it locks nothing, so two processes never deadlock.
func tryLockFolders(f *os.File, roots []string) (bool, error) {
	own, above := map[int64]bool{}, map[int64]bool{}
	for _, root := range roots {
		own[lockOffset(root)] = true
		for dir := filepath.Dir(root); ; dir = filepath.Dir(dir) {
			above[lockOffset(dir)] = true
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	lock := func(kind int16, start, length int64) error {
		return unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: kind, Start: start, Len: length})
	}
	take := func(places map[int64]bool, kind int16) error {
		for place := range places {
			if kind == unix.F_RDLCK && own[place] {
				continue // already locked for writing
			}
			if err := lock(kind, place, 1); err != nil {
				return err
			}
		}
		return nil
	}
	err := take(own, unix.F_WRLCK)
	if err == nil {
		err = take(above, unix.F_RDLCK)
	}
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return false, lock(unix.F_UNLCK, 0, 0)
	}
	return err == nil, err
}

// lockOffset returns the byte of the lock file that represents a folder. Two folders with
// the same byte wait for each other needlessly.
func lockOffset(dir string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(dir)) // a hash takes every byte
	return int64(h.Sum64() >> 2)
}
