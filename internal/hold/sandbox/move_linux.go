package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// This file moves folders under an overlay. The kernel refuses that (EXDEV) because it
// would need redirects, which are not available in a user namespace. mv copies instead,
// but a program that calls rename itself fails, unlike in the real folder.

// A spot is a name in an open folder.
type spot struct {
	dir  int
	name string
}

// move performs a command's rename of a folder. It returns false if the call does not
// concern folders or cannot be judged here; the kernel then continues the call.
func (w *observer) move(n *notice) (bool, error) {
	from, to, flags, err := readMove(n)
	if err != nil {
		return false, nil // the kernel detects the error itself
	}
	defer closeFD(from.dir)
	defer closeFD(to.dir)
	if !from.isFolder() && (flags&unix.RENAME_EXCHANGE == 0 || !to.isFolder()) {
		return false, nil
	}
	err = unix.Renameat2(from.dir, from.name, to.dir, to.name, uint(flags))
	if !errors.Is(err, unix.EXDEV) || !oneMount(from.dir, to.dir) {
		return true, err
	}
	if flags&unix.RENAME_EXCHANGE != 0 {
		err = exchange(from, to)
	} else {
		err = replaceEmpty(from, to, flags&unix.RENAME_NOREPLACE != 0)
	}
	if err != nil && !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, unix.EEXIST) && !errors.Is(err, unix.ENOTDIR) {
		stuck, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", from.dir)) // without it only the name is lost
		stuck = filepath.Join(stuck, from.name)
		w.tell(report{Stuck: []byte(stuck[:min(len(stuck), maxPath)])})
	}
	return true, err
}

// readMove reads the arguments of a call and opens its two folders.
func readMove(n *notice) (from, to spot, flags uint64, err error) {
	a := n.arguments
	folders, paths := [2]int32{unix.AT_FDCWD, unix.AT_FDCWD}, [2]uint64{a[0], a[1]}
	if n.number == unix.SYS_RENAMEAT || n.number == unix.SYS_RENAMEAT2 {
		folders, paths = [2]int32{int32(a[0]), int32(a[2])}, [2]uint64{a[1], a[3]}
	}
	if n.number == unix.SYS_RENAMEAT2 {
		flags = a[4]
	}
	if from, err = openSpot(n.thread, folders[0], paths[0]); err != nil {
		return from, to, flags, err
	}
	if to, err = openSpot(n.thread, folders[1], paths[1]); err != nil {
		closeFD(from.dir)
	}
	return from, to, flags, err
}

var errNotHere = errors.New("cannot be resolved from here")

// openSpot resolves a path like the calling thread would.
func openSpot(thread uint32, folder int32, at uint64) (spot, error) {
	path, err := readText(thread, at)
	if err != nil {
		return spot{}, err
	}
	path = strings.TrimRight(path, "/") // redundant after a folder
	dir, name := filepath.Split(path)
	if name == "" || name == "." || name == ".." || strings.Contains(path, "/proc/") {
		return spot{}, errNotHere
	}
	if !filepath.IsAbs(path) {
		start := fmt.Sprintf("/proc/%d/cwd/", thread)
		if folder != unix.AT_FDCWD {
			start = fmt.Sprintf("/proc/%d/fd/%d/", thread, folder)
		}
		dir = start + dir
	}
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	return spot{fd, name}, err
}

func (s spot) stat() (unix.Stat_t, error) {
	var info unix.Stat_t
	err := unix.Fstatat(s.dir, s.name, &info, unix.AT_SYMLINK_NOFOLLOW)
	return info, err
}

func (s spot) isFolder() bool {
	info, err := s.stat()
	return err == nil && info.Mode&unix.S_IFMT == unix.S_IFDIR
}

// oneMount reports whether two open folders are on one mount. The kernel always refuses
// to move between mounts.
func oneMount(a, b int) bool {
	return sameMount(fmt.Sprintf("/proc/self/fd/%d/.", a), fmt.Sprintf("/proc/self/fd/%d/.", b))
}

// replaceEmpty moves a folder to a free name or onto an empty folder.
func replaceEmpty(from, to spot, free bool) error {
	info, err := to.stat()
	switch {
	case errors.Is(err, unix.ENOENT):
		return moveFolder(from, to)
	case err != nil:
		return err
	case free:
		return unix.EEXIST
	case info.Mode&unix.S_IFMT != unix.S_IFDIR:
		return unix.ENOTDIR
	}
	if err := unix.Unlinkat(to.dir, to.name, unix.AT_REMOVEDIR); err != nil {
		return err
	}
	return moveFolder(from, to)
}

// exchange swaps two names.
func exchange(a, b spot) error {
	aside := spot{a.dir, fmt.Sprintf(".umpire-exchange-%d", os.Getpid())}
	if err := moveAny(a, aside); err != nil {
		return err
	}
	if err := moveAny(b, a); err != nil {
		return errors.Join(err, moveAny(aside, a))
	}
	return moveAny(aside, b)
}

// moveAny renames an entry, or moves a folder if the kernel cannot. The kernel refuses a
// folder that its owner may not write to, because its parent entry changes.
func moveAny(from, to spot) error {
	err := unix.Renameat2(from.dir, from.name, to.dir, to.name, unix.RENAME_NOREPLACE)
	if (errors.Is(err, unix.EXDEV) || errors.Is(err, unix.EACCES)) && from.isFolder() {
		err = moveFolder(from, to)
	}
	return err
}

// moveFolder moves a folder by creating a new one and moving its entries.
func moveFolder(from, to spot) error {
	info, err := from.stat()
	if err != nil {
		return err
	}
	if int(info.Uid) != os.Geteuid() || int(info.Gid) != os.Getegid() {
		return unix.EXDEV // the new one would have another owner
	}
	old, err := openMoved(from)
	if err != nil {
		return err
	}
	defer old.Close()
	if err := unix.Mkdirat(to.dir, to.name, 0o700); err != nil {
		return err
	}
	now, err := openMoved(to)
	if err != nil {
		return err
	}
	defer now.Close()
	if err := moveEntries(old, now); err != nil {
		return err
	}
	if err := copyAttributes(old, now); err != nil {
		return err
	}
	if err := unix.Fchmod(int(now.Fd()), info.Mode&0o7777); err != nil {
		return err
	}
	if err := setTimes(now, &info); err != nil {
		return err
	}
	return unix.Unlinkat(from.dir, from.name, unix.AT_REMOVEDIR)
}

// openMoved opens a folder for reading, and makes it writable for its owner. It will be
// removed, or gets its final mode when it is complete.
func openMoved(s spot) (*os.File, error) {
	flags := unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat(s.dir, s.name, flags, 0)
	if errors.Is(err, unix.EACCES) {
		if err = unix.Fchmodat(s.dir, s.name, 0o700, 0); err == nil {
			fd, err = unix.Openat(s.dir, s.name, flags, 0)
		}
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), s.name), unix.Fchmod(fd, 0o700)
}

func moveEntries(old, now *os.File) error {
	names, err := old.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := moveAny(spot{int(old.Fd()), name}, spot{int(now.Fd()), name}); err != nil {
			return err
		}
	}
	return nil
}

// copyAttributes copies the extended attributes that a user may set.
func copyAttributes(old, now *os.File) error {
	list := make([]byte, 1<<16)
	n, err := unix.Flistxattr(int(old.Fd()), list)
	if err != nil {
		return ignoreUnsupported(err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(list[:n]), "\x00"), "\x00") {
		if name == "" {
			continue
		}
		value := make([]byte, 1<<16)
		n, err := unix.Fgetxattr(int(old.Fd()), name, value)
		if err == nil {
			err = unix.Fsetxattr(int(now.Fd()), name, value[:n], 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func ignoreUnsupported(err error) error {
	if errors.Is(err, unix.ENOTSUP) {
		return nil
	}
	return err
}

// setTimes sets a folder's times from another one's.
func setTimes(f *os.File, info *unix.Stat_t) error {
	times := []unix.Timespec{info.Atim, info.Mtim}
	return unix.UtimesNanoAt(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", f.Fd()), times, 0)
}
