package trial

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// changeTime is when anything about a file last changed, which nobody can set back.
func changeTime(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctim.Unix())
	}
	return time.Time{}
}

// A checker looks at all that a transaction is going to change, before anything is touched.
type checker struct {
	*transaction

	began    time.Time            // when the trial began
	restored map[string]time.Time // see restoredFile
}

// checkSteps looks at every path: that it is what it was when the trial began, and that it
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

// isUnchanged reports whether what stands at a path is what was shown, and has not been
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
		return false, nil // it was replaced while it was read
	}
	if err != nil {
		return false, err
	}
	if !now.Exists() || !s.Before.Exists() {
		return now.Exists() == s.Before.Exists(), nil
	}
	if now.Type.IsDir() && s.After.Type.IsDir() { // others may come and go in it
		return isSameFile(&now, &s.Before) && hasSameAttributes(&now, &s.Before), nil
	}
	return isSameFile(&now, &s.Before) && hasSameAttributes(&now, &s.Before) && now.Digest == s.Before.Digest &&
		now.Link == s.Before.Link &&
		(changed.Before(c.began) || changed.Equal(c.restored[umpire.EscapePath(s.Path)])), nil
}

// readNow reads what stands at a step's path. A file of which the digest was not needed
// is not read: nobody can set back when it last changed.
func (c *checker) readNow(ctx context.Context, s *step, parent int, base string) (Entry, time.Time, error) {
	if s.Before.Type.IsRegular() && s.Before.Digest == "" {
		return statAt(parent, base)
	}
	return readAt(ctx, parent, base)
}

// isMadeAbove reports whether a folder above a path is one that a step makes.
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

// checkObstacle returns what stands against a change of a path.
func (c *checker) checkObstacle(s *step) error {
	parent, base, err := c.parentOf(s.Root, s.Path)
	if err != nil {
		return nil //nolint:nilerr // a folder on the way is made first
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
		return nil // it is unlocked for as long as it takes
	case errors.Is(err, unix.EACCES):
		return errForbidden
	case err != nil:
		return err
	case folder.Type&fs.ModeSticky != 0 && s.Before.Exists() && me != 0 && me != folder.UID && me != s.Before.UID:
		return errForbidden
	}
	return nil
}

// flagsOf returns what the flags of a file forbid. Even root cannot change a file that has
// one of them.
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

// checkSpace refuses what would not fit: what is made ready in roots on other file systems,
// and what is copied from there.
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

// blocksAt is how much space a step's file takes now.
func (c *checker) blocksAt(s *step) int64 {
	if !s.Before.Type.IsRegular() {
		return 0
	}
	parent, base, err := c.parentOf(s.Root, s.Path)
	if err != nil {
		return 0 // it is not there
	}
	return blocksOf(parent, base)
}

// blockSize is the unit in which the system says how much space a file takes.
const blockSize = 512

func blocksOf(folder int, name string) int64 {
	var st unix.Stat_t
	if err := unix.Fstatat(folder, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return 0 // staging it says more
	}
	return st.Blocks * blockSize
}

// freeIn is how much space is left for us, unbounded where that is not known.
func freeIn(folder int) int64 {
	var st unix.Statfs_t
	if err := unix.Fstatfs(folder, &st); err != nil {
		return 1<<63 - 1
	}
	return int64(st.Bavail) * int64(st.Bsize) //nolint:unconvert // 32 bits on some machines
}
