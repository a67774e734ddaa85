package trial

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
)

// layerPrefix starts the names of layers.
const layerPrefix = "trial-"

// A store is a folder in which layers are made.
type store struct {
	dir  string
	max  int64  // bytes that one command may write
	free uint64 // free bytes when it was opened
}

// openStore opens the given folder, and makes it if it is missing.
func openStore(dir string, limit int64) (*store, error) {
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, err
	}
	s := &store{dir: dir, max: limit}
	if s.free, err = files.FreeBytes(s.dir); err == nil && s.free < minSpace {
		err = umpire.Errorf("%s has no space for a trial's changes", dir)
	}
	return s, err
}

// minSpace must stay free next to a layer. A command that ran out of space in a trial
// might have succeeded in a real run, which copies nothing.
const minSpace = 4 << 20

// memoryFolder is a world-writable tmpfs on every Linux machine.
const memoryFolder = "/dev/shm"

// memoryOwn returns this user's folder in memoryFolder.
func memoryOwn() string { return filepath.Join(memoryFolder, "umpire-"+strconv.Itoa(os.Geteuid())) }

// openMemory opens a private folder on tmpfs.
func openMemory(limit int64) (*store, error) {
	dir := memoryOwn()
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() || info.Mode().Perm() != 0o700 || !files.Owned(info) {
		return nil, umpire.Errorf("%s is not a private folder of this user", dir)
	}
	return openStore(dir, limit)
}

// exceeded describes the exceeded limit, or returns "". Writes of other programs to the
// same file system count as well, because the file system must not fill up.
func (s *store) exceeded() string {
	free, err := files.FreeBytes(s.dir)
	switch {
	case err != nil:
		return ""
	case free < minSpace:
		return "there was no space left for the layer"
	case free < s.free && s.free-free > uint64(s.max):
		return fmt.Sprintf("more than %d bytes were written", s.max)
	}
	return ""
}

// makeLayer makes an empty layer over some folders. It is not swept until it is released.
func (s *store) makeLayer(roots []Root) (Layer, func(), error) {
	dir, err := os.MkdirTemp(s.dir, layerPrefix)
	if err != nil {
		return Layer{}, nil, err
	}
	layer := Layer{Dir: dir, Roots: slices.Clone(roots)}
	for i := range layer.Roots {
		layer.Roots[i].Upper = layer.folder(i, "upper")
	}
	release, err := layer.fill()
	if err != nil {
		return Layer{}, nil, errors.Join(err, layer.Discard())
	}
	return layer, release, nil
}

func (l *Layer) folder(i int, name string) string { return filepath.Join(l.Dir, strconv.Itoa(i), name) }
func (l *Layer) work(i int) string                { return l.folder(i, "work") }
func (l *Layer) scratch() string                  { return filepath.Join(l.Dir, "scratch") }
func (l *Layer) tmp() string                      { return sandbox.TmpIn(l.scratch()) }

// fill makes the parts of a layer. The stamp comes last, so earlier changes below the
// layer are never newer than the layer.
func (l *Layer) fill() (release func(), err error) {
	if err := os.MkdirAll(l.tmp(), 0o700); err != nil {
		return nil, err
	}
	for i, root := range l.Roots {
		for _, dir := range []string{root.Upper, l.work(i)} {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return nil, err
			}
		}
		if err := copyFolder(root.Lower, root.Upper); err != nil {
			return nil, err
		}
	}
	stamp, err := os.OpenFile(filepath.Join(l.Dir, stampFile), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(stamp.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = stamp.Close() // the first error matters more
		return nil, err
	}
	return func() {
		// The layer's age counts from here on. If the time cannot be set, the layer is swept earlier.
		_ = unix.UtimesNanoAt(unix.AT_FDCWD, l.Dir, []unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}}, 0)
		_ = stamp.Close()
	}, nil
}

// copyFolder copies a folder's attributes, because an overlay takes its own from the
// upper folder.
func copyFolder(from, to string) error {
	var info unix.Stat_t
	if err := unix.Stat(from, &info); err != nil {
		return err
	}
	if err := os.Lchown(to, int(info.Uid), int(info.Gid)); err != nil {
		return umpire.Errorf("%s belongs to another user: %w", from, err)
	}
	if err := unix.Chmod(to, info.Mode&0o7777); err != nil {
		return err
	}
	return unix.UtimesNanoAt(unix.AT_FDCWD, to, []unix.Timespec{info.Atim, info.Mtim}, 0)
}

// findRoots resolves the folders to cover, and leaves out nested ones.
func findRoots(folders []string) ([]Root, error) {
	var all []string
	for _, folder := range folders {
		plain, err := filepath.EvalSymlinks(folder)
		if err != nil {
			return nil, err
		}
		if plain == "/" {
			return nil, umpire.Errorf("%w: the root of the file system cannot be covered", ErrUnavailable)
		}
		all = append(all, plain)
	}
	if len(all) == 0 {
		return nil, errors.New("no folder to cover")
	}
	var roots []Root
	for _, folder := range slices.Sorted(slices.Values(files.Outermost(all))) {
		d, err := openRoot(folder)
		if err != nil {
			return nil, err
		}
		var info unix.Stat_t
		err = unix.Fstat(d.fd(), &info)
		d.close()
		if err != nil {
			return nil, err
		}
		roots = append(roots, Root{Lower: folder, Device: info.Dev, Inode: info.Ino})
	}
	return roots, nil
}
