package trial

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// A checker checks all paths of a transaction before it touches anything.
type checker struct {
	*transaction

	began    time.Time            // when the trial began
	restored map[string]time.Time // see restoredFile
}

// checkSteps checks for every path that it is unchanged since the trial began and that it
// can be changed.
func (c *checker) checkSteps(ctx context.Context) error {
	conflict := &ConflictError{}
	for i := range c.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		s := &c.Steps[i]
		same, err := c.isUnchanged(ctx, s)
		if err != nil {
			return err
		}
		if !same {
			conflict.Paths = append(conflict.Paths, s.Path)
			continue
		}
		if err := c.checkObstacle(s); err != nil {
			return &ObstacleError{s.Path, err}
		}
	}
	if len(conflict.Paths) > 0 {
		return conflict
	}
	return nil
}

// isUnchanged reports whether a path still has the entry that was shown and was not
// touched since the trial began.
func (c *checker) isUnchanged(ctx context.Context, s *step) (bool, error) {
	parent, base, err := c.parentOf(s.Root, s.Path)
	if files.Missing(err) || errors.Is(err, unix.ELOOP) {
		return !s.Before.Exists() && c.isMadeAbove(s.Path), nil
	}
	if err != nil {
		return false, err
	}
	now, changed, err := c.readNow(ctx, s, parent, base)
	if files.Missing(err) || errors.Is(err, unix.ELOOP) {
		return false, nil // it was replaced while being read
	}
	if err != nil {
		return false, err
	}
	if !now.Exists() || !s.Before.Exists() {
		return now.Exists() == s.Before.Exists(), nil
	}
	if now.Type.IsDir() && s.After.Type.IsDir() { // other programs may add and remove entries
		return isSameFile(&now, &s.Before) && hasSameAttributes(&now, &s.Before), nil
	}
	return isSameFile(&now, &s.Before) && hasSameAttributes(&now, &s.Before) && now.Digest == s.Before.Digest &&
		now.Link == s.Before.Link &&
		(changed.Before(c.began) || changed.Equal(c.restored[umpire.EscapePath(s.Path)])), nil
}

// readNow reads the entry at a step's path. It skips the content if the old digest was
// not needed: the change time, which no program can set back, is enough.
func (c *checker) readNow(ctx context.Context, s *step, parent int, base string) (Entry, time.Time, error) {
	if s.Before.Type.IsRegular() && s.Before.Digest == "" {
		return statAt(parent, base)
	}
	return readAt(ctx, parent, base)
}

// isMadeAbove reports whether a step makes a folder above a path.
func (j *journal) isMadeAbove(path string) bool {
	for i := range j.Steps {
		s := &j.Steps[i]
		if s.After.Type.IsDir() && !s.Before.Type.IsDir() && files.Within(s.Path, path) && s.Path != path {
			return true
		}
	}
	return false
}

// hasSameAttributes compares modes and owners.
func hasSameAttributes(a, b *Entry) bool { return a.Type == b.Type && a.UID == b.UID && a.GID == b.GID }

// checkObstacle returns the reason why a path cannot be changed, or nil.
func (c *checker) checkObstacle(s *step) error {
	parent, base, err := c.parentOf(s.Root, s.Path)
	if err != nil {
		return nil //nolint:nilerr // a parent folder is created first
	}
	if s.Before.Exists() {
		if err := flagsOf(parent, base); err != nil {
			return err
		}
	}
	if s.InPlace {
		return nil
	}
	if err := flagsOf(parent, ""); err != nil && (s.Before.Exists() || !errors.Is(err, errAppendOnly)) {
		return err
	}
	folder, _, err := statAt(parent, ".")
	if err != nil {
		return err
	}
	me := os.Geteuid()
	err = unix.Faccessat(parent, ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS)
	switch {
	case errors.Is(err, unix.EROFS):
		return errReadOnly
	case errors.Is(err, unix.EACCES) && folder.UID == me:
		return nil // it is unlocked for the transaction
	case errors.Is(err, unix.EACCES):
		return errForbidden
	case err != nil:
		return err
	case folder.Type&fs.ModeSticky != 0 && s.Before.Exists() && me != 0 && me != folder.UID && me != s.Before.UID:
		return errForbidden
	}
	return nil
}

// flagsOf returns an error if a file's flags forbid changes. Even root cannot change such
// a file.
func flagsOf(folder int, name string) error {
	var st unix.Statx_t
	err := unix.Statx(folder, name, unix.AT_EMPTY_PATH|unix.AT_SYMLINK_NOFOLLOW, unix.STATX_TYPE, &st)
	switch {
	case err != nil:
		return err
	case st.Attributes&unix.STATX_ATTR_IMMUTABLE != 0:
		return errImmutable
	case st.Attributes&unix.STATX_ATTR_APPEND != 0:
		return errAppendOnly
	}
	return nil
}

// checkSpace checks the free space for files prepared in roots on other file systems and
// for old files copied from there.
func (c *checker) checkSpace() error {
	var old int64
	for i := range c.Roots {
		if !c.Roots[i].Apart {
			continue
		}
		var fresh int64
		for k := range c.Steps {
			s := &c.Steps[k]
			if s.Root != i || s.InPlace {
				continue
			}
			old += c.blocksAt(s)
			if s.from.name != "" {
				fresh += blocksOf(s.from.folder, s.from.name)
			}
		}
		if fresh > freeIn(c.roots[i]) {
			return &ObstacleError{c.Roots[i].Path, errSpace}
		}
	}
	if old > freeIn(int(c.lock.Fd())) {
		return &ObstacleError{c.record, errSpace}
	}
	return nil
}

// blocksAt returns the disk space that a step's file takes now.
func (c *checker) blocksAt(s *step) int64 {
	if !s.Before.Type.IsRegular() {
		return 0
	}
	parent, base, err := c.parentOf(s.Root, s.Path)
	if err != nil {
		return 0 // it does not exist
	}
	return blocksOf(parent, base)
}

// blockSize is the unit of stat's block count in bytes.
const blockSize = 512

func blocksOf(folder int, name string) int64 {
	var st unix.Stat_t
	if err := unix.Fstatat(folder, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return 0 // staging it reports the error
	}
	return st.Blocks * blockSize
}

// freeIn returns the free space, or the maximum if it is unknown.
func freeIn(folder int) int64 {
	var st unix.Statfs_t
	if err := unix.Fstatfs(folder, &st); err != nil {
		return 1<<63 - 1
	}
	return int64(st.Bavail) * int64(st.Bsize) //nolint:unconvert // 32 bits on some machines
}
