package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/homeview"
)

// mountAll makes everything read-only and puts back what may be written. The
// latter is opened first, since it may lie below a folder that is hidden.
func (h *helper) mountAll() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return umpire.Errorf("keep mounts to itself: %w", err)
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
			return umpire.Errorf("put back %s: %w", m.path, err)
		}
		if err := h.hideBelow(m.path); err != nil {
			return err
		}
	}
	homeview.MakeStubs(h.Stubs)
	h.seal()
	return h.guard()
}

// A held mount is taken out of the tree of folders, to be put somewhere in it later.
type heldMount struct {
	fd   int
	path string // where it goes
	file bool
	more uint64 // flags beyond those of all
}

type held struct {
	mounts  []heldMount
	devices map[string]int
}

// hold takes hold of what is put back later, while it can still be seen.
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
		if err != nil { // where layers are not to be had they stay read-only
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
		if home, err := homeview.OpenReal(dir); err == nil {
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
	// The outer before the inner: what comes later lies over what came before.
	slices.SortStableFunc(all.mounts, func(a, b heldMount) int { return len(a.path) - len(b.path) })
	return all, nil
}

// grabMount takes hold of a file or folder, with what is mounted in it. No part of its
// path may be a link: it would have been put there since the path was judged.
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

// place puts a mount where it belongs. Below a hidden folder there is nothing to put
// it on, so that is made.
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

// attachMount puts a mount on a path, and follows no link on the way.
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

// mountProc shows the sandbox's own processes. Nothing below it may be written:
// for root some of it are switches of the whole machine.
func mountProc() error {
	return unix.Mount("proc", "/proc", "proc", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
}

// deviceNodes are the devices that a command gets.
var deviceNodes = []string{"null", "zero", "full", "random", "urandom", "tty"}

// deviceLinks are the links that programs expect there.
var deviceLinks = map[string]string{
	"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
	"ptmx": "pts/ptmx",
}

const folderFlags = unix.MS_NOSUID | unix.MS_NODEV

// mountDev makes a /dev without disks, and with terminals of its own.
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

// hide covers what is not to be seen. Folders become empty ones; a socket or file
// becomes nothing to connect to or read.
func (h *helper) hide() error {
	if h.Tmp == "" { // else what is there covers them
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

// coverPath hides one path. One that is not there, or that this user cannot look at,
// needs no hiding; a link is followed, so that what it leads to is hidden.
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
	return nil // it has gone since it was looked at
}

// coveringFile is where a file is made for each one that is covered: programs find nothing in
// a hidden one, and are told when they write that they cannot.
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

// seal makes what covers hidden folders of the workspace read-only, so that nothing seems
// to be written into them.
func (h *helper) seal() {
	for _, path := range h.Hidden {
		if files.WithinAny(h.order.writable(), path) || slices.Contains(h.Homes, path) {
			_ = setFlags(unix.AT_FDCWD, path, 0, unix.MOUNT_ATTR_RDONLY) // without it what is written is forgotten
		}
	}
}

// hideBelow hides again what is seen again in a folder that was put back. What is to be
// seen all the same lies deeper, and is put back later.
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

// guard pins the folders that guarded things lie in and makes those read-only.
// Whatever is mounted on cannot be moved or deleted, so no other can take its place.
func (h *helper) guard() error {
	for _, path := range h.Pinned {
		if err := rebindPath(path, 0); err != nil {
			return umpire.Errorf("pin %s: %w", path, err)
		}
	}
	for _, path := range h.Guarded {
		if slices.Contains(h.Hidden, path) {
			continue // what covers it cannot be written either
		}
		if err := rebindPath(path, unix.MOUNT_ATTR_RDONLY); err != nil {
			return umpire.Errorf("guard %s: %w", path, err)
		}
	}
	return h.guardAbsent()
}

// guardAbsent puts one empty folder, which cannot be written, on all names that must not
// be made.
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

// rebindPath puts a path on itself, with other flags.
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

// closeFD closes a file that nothing was written to, or whose end cannot be helped.
func closeFD(fd int) { _ = unix.Close(fd) }
