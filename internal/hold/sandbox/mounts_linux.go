package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// mountAll makes everything read-only and puts back the writable folders. It opens those
// first, because they may be below a hidden folder.
func (h *helper) mountAll() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return umpire.Errorf("make its mounts private: %w", err)
	}
	held, err := h.hold()
	if err != nil {
		return err
	}
	if err := setFlags(
		unix.AT_FDCWD, "/", unix.AT_RECURSIVE, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID,
	); err != nil {
		return umpire.Errorf("make everything read-only: %w", err)
	}
	for _, part := range []struct {
		name string
		do   func() error
	}{{"/proc", mountProc}, {"/dev", func() error { return mountDev(held) }}, {"hide", h.hide}} {
		if err := part.do(); err != nil {
			return umpire.Errorf("%s: %w", part.name, err)
		}
	}
	for _, m := range held.mounts {
		if err := m.place(); err != nil {
			return umpire.Errorf("restore %s: %w", m.path, err)
		}
		if err := h.hideBelow(m.path); err != nil {
			return err
		}
	}
	makeStubs(h.Stubs)
	h.seal()
	return h.guard()
}

// A heldMount is a detached mount that will be attached later.
type heldMount struct {
	fd   int
	path string // where it will be attached
	file bool
	more uint64 // additional mount flags
}

type held struct {
	mounts  []heldMount
	devices map[string]int
}

// hold detaches the mounts to put back later, while they are still visible.
func (h *helper) hold() (*held, error) {
	all := &held{devices: map[string]int{}}
	take := func(from, to string) error {
		m, err := grabMount(from)
		if err != nil {
			return umpire.Errorf("%s: %w", from, err)
		}
		m.path = to
		all.mounts = append(all.mounts, m)
		return nil
	}
	if h.Tmp != "" {
		for _, dir := range privateFolders {
			if err := take(h.Tmp, dir); err != nil {
				return nil, err
			}
		}
	}
	for i := range h.Caches {
		mounts, err := h.Caches[i].hold()
		all.mounts = append(all.mounts, mounts...)
		if err != nil { // without layers the caches stay read-only
			h.Shown = append(h.Shown, h.Caches[i].shown()...)
		}
	}
	for _, path := range h.Open {
		if err := take(path, path); err != nil {
			return nil, err
		}
	}
	all.mounts = append(all.mounts, h.over...)
	for _, path := range h.Shown {
		if m, err := grabMount(path); err == nil {
			m.more = unix.MOUNT_ATTR_RDONLY
			all.mounts = append(all.mounts, m)
		}
	}
	for _, dir := range h.Homes {
		if home, err := openReal(dir); err == nil {
			h.homes = append(h.homes, home)
		}
	}
	for _, name := range deviceNodes {
		m, err := grabMount("/dev/" + name)
		if err != nil {
			continue // a machine may lack one
		}
		all.devices[name] = m.fd
	}
	// Attach outer mounts first, because later mounts cover earlier ones.
	slices.SortStableFunc(all.mounts, func(a, b heldMount) int { return len(a.path) - len(b.path) })
	return all, nil
}

// grabMount detaches a copy of a file or folder with the mounts in it. Its path must not
// contain links: one would have appeared after the path was checked.
func grabMount(path string) (heldMount, error) {
	at, err := unix.Openat2(
		unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS},
	)
	if err != nil {
		return heldMount{}, err
	}
	defer closeFD(at)
	var info unix.Stat_t
	if err := unix.Fstat(at, &info); err != nil {
		return heldMount{}, err
	}
	folder := info.Mode&unix.S_IFMT == unix.S_IFDIR
	flags := uint(unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_EMPTY_PATH)
	if folder {
		flags |= unix.AT_RECURSIVE
	}
	fd, err := unix.OpenTree(at, "", flags)
	return heldMount{fd: fd, path: path, file: !folder}, err
}

// place attaches a mount to its path. It creates the mount point if it is below a hidden
// folder.
func (m *heldMount) place() error {
	defer closeFD(m.fd)
	if _, err := os.Lstat(m.path); errors.Is(err, os.ErrNotExist) {
		if err := m.makePoint(); err != nil {
			return err
		}
	}
	if err := setFlags(
		m.fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|m.more,
	); err != nil {
		return err
	}
	return attachMount(m.fd, m.path)
}

func (m *heldMount) makePoint() error {
	if !m.file {
		return os.MkdirAll(m.path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(m.path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(m.path, nil, 0o644)
}

// attachMount attaches a mount to a path without following links.
func attachMount(fd int, path string) error {
	at, err := unix.Openat2(
		unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS},
	)
	if err != nil {
		return err
	}
	defer closeFD(at)
	return unix.MoveMount(fd, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

func setFlags(fd int, path string, how uint, flags uint64) error {
	return unix.MountSetattr(fd, path, how, &unix.MountAttr{Attr_set: flags})
}

// mountProc shows only the sandbox's own processes. It is read-only because root could
// change settings of the whole machine there.
func mountProc() error {
	return unix.Mount("proc", "/proc", "proc", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
}

// deviceNodes are the devices available to a command.
var deviceNodes = []string{"null", "zero", "full", "random", "urandom", "tty"}

// deviceLinks are the links that programs expect in /dev.
var deviceLinks = map[string]string{
	"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
	"ptmx": "pts/ptmx",
}

const folderFlags = unix.MS_NOSUID | unix.MS_NODEV

// mountDev makes a /dev without disks and with private terminals.
func mountDev(all *held) error {
	if err := unix.Mount("tmpfs", "/dev", "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "mode=0755,size=64k"); err != nil {
		return err
	}
	for name, fd := range all.devices {
		m := heldMount{fd: fd, path: "/dev/" + name, file: true}
		if err := m.makePoint(); err != nil {
			return err
		}
		if err := attachMount(fd, m.path); err != nil {
			return umpire.Errorf("%s: %w", name, err)
		}
		closeFD(fd)
	}
	for name, to := range deviceLinks {
		if err := os.Symlink(to, "/dev/"+name); err != nil {
			return err
		}
	}
	for _, dir := range []string{"/dev/pts", "/dev/shm"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	if err := unix.Mount(
		"devpts", "/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620",
	); err != nil {
		return umpire.Errorf("pts: %w", err)
	}
	if err := unix.Mount("tmpfs", "/dev/shm", "tmpfs", folderFlags, "mode=1777"); err != nil {
		return umpire.Errorf("shm: %w", err)
	}
	return setFlags(unix.AT_FDCWD, "/dev", 0, unix.MOUNT_ATTR_RDONLY)
}

// hide covers the hidden paths. Folders become empty; sockets and files cannot be
// connected to or read.
func (h *helper) hide() error {
	if h.Tmp == "" { // else Tmp covers them
		for _, dir := range privateFolders {
			if err := coverPath(dir, "mode=1777"); err != nil {
				return umpire.Errorf("%s: %w", dir, err)
			}
		}
	}
	for _, path := range h.Hidden {
		if err := coverPath(path, "mode=0755"); err != nil {
			return umpire.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// coverPath hides one path. Paths that do not exist or are inaccessible to this user need
// no hiding. Links are followed, so their targets are hidden.
func coverPath(path, options string) error {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		return unix.Mount("tmpfs", path, "tmpfs", folderFlags, options)
	}
	if info.Mode().IsRegular() {
		return coverFile(path, "")
	}
	if err := unix.Mount("/dev/null", path, "", unix.MS_BIND, ""); !errors.Is(err, unix.ENOENT) {
		return err
	}
	return nil // it was removed since the check
}

// coveringFile is the source of the files that cover hidden ones. Programs read nothing
// from a hidden file, and writes fail with an error.
const coveringFile = "/dev/shm/.covering"

func coverFile(path, text string) error {
	if err := os.WriteFile(coveringFile, []byte(text), 0o444); err != nil {
		return err
	}
	m, err := grabMount(coveringFile)
	if err != nil {
		return err
	}
	defer closeFD(m.fd)
	if err := setFlags(
		m.fd, "", unix.AT_EMPTY_PATH, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV,
	); err != nil {
		return err
	}
	if err := attachMount(m.fd, path); err != nil {
		return err
	}
	return os.Remove(coveringFile)
}

// seal makes the covers of hidden folders in the workspace read-only, because writes to
// them would be lost.
func (h *helper) seal() {
	for _, path := range h.Hidden {
		if files.WithinAny(h.order.writable(), path) || slices.Contains(h.Homes, path) {
			_ = setFlags(unix.AT_FDCWD, path, 0, unix.MOUNT_ATTR_RDONLY) // on failure, writes are silently lost
		}
	}
}

// hideBelow hides paths again in a folder that was put back. Visible paths below it are
// put back later.
func (h *helper) hideBelow(folder string) error {
	for _, path := range h.Hidden {
		if files.Within(folder, path) {
			if err := coverPath(path, "mode=0755"); err != nil {
				return umpire.Errorf("hide %s: %w", path, err)
			}
		}
	}
	return nil
}

// guard pins the folders above guarded paths and makes the paths read-only. A mount point
// cannot be moved or deleted, so it cannot be replaced.
func (h *helper) guard() error {
	for _, path := range h.Pinned {
		if err := rebindPath(path, 0); err != nil {
			return umpire.Errorf("pin %s: %w", path, err)
		}
	}
	for _, path := range h.Guarded {
		if slices.Contains(h.Hidden, path) {
			continue // its cover is read-only, too
		}
		if err := rebindPath(path, unix.MOUNT_ATTR_RDONLY); err != nil {
			return umpire.Errorf("guard %s: %w", path, err)
		}
	}
	return h.guardAbsent()
}

// guardAbsent mounts one read-only empty folder on all names that must not be created.
func (h *helper) guardAbsent() error {
	if len(h.Absent) == 0 {
		return nil
	}
	empty, err := grabMount(h.Absent[0])
	if err != nil {
		return umpire.Errorf("guard %s: %w", h.Absent[0], err)
	}
	defer closeFD(empty.fd)
	if err := setFlags(empty.fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, unix.MOUNT_ATTR_RDONLY); err != nil {
		return err
	}
	if err := attachMount(empty.fd, h.Absent[0]); err != nil {
		return umpire.Errorf("guard %s: %w", h.Absent[0], err)
	}
	for _, path := range h.Absent[1:] {
		fd, err := unix.OpenTree(empty.fd, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH)
		if err != nil {
			return err
		}
		err = attachMount(fd, path)
		closeFD(fd)
		if err != nil {
			return umpire.Errorf("guard %s: %w", path, err)
		}
	}
	return nil
}

// rebindPath mounts a path on itself with other flags.
func rebindPath(path string, flags uint64) error {
	m, err := grabMount(path)
	if err != nil {
		return err
	}
	defer closeFD(m.fd)
	if flags != 0 {
		if err := setFlags(m.fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, flags); err != nil {
			return err
		}
	}
	return attachMount(m.fd, path)
}

// closeFD closes a file that was not written to, or whose close error does not matter.
func closeFD(fd int) { _ = unix.Close(fd) }
