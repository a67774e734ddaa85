package trial

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
)

// A dir is an open folder. All reads use names in an open folder and follow no links.
type dir struct{ f *os.File }

// openRoot opens a folder by a path without symbolic links.
func openRoot(path string) (*dir, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &dir{os.NewFile(uintptr(fd), path)}, nil
}

func (d *dir) close() {
	if d != nil {
		_ = d.f.Close() // it was only read
	}
}

func (d *dir) fd() int { return int(d.f.Fd()) }

// stat returns the attributes of an entry, or the zero Stat_t if it does not exist.
func (d *dir) stat(name string) (unix.Stat_t, error) {
	var info unix.Stat_t
	if d == nil {
		return info, nil
	}
	err := unix.Fstatat(d.fd(), name, &info, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) {
		return unix.Stat_t{}, nil
	}
	return info, err
}

// openIn opens an entry of the folder, if it still is the one in info.
func (d *dir) openIn(name string, flags int, info *unix.Stat_t) (*os.File, error) {
	flags |= unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
	fd, err := unix.Openat(d.fd(), name, flags, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	var now unix.Stat_t
	if err := unix.Fstat(fd, &now); err != nil || now.Ino != info.Ino || kindOf(&now) != kindOf(info) {
		_ = f.Close() // nothing was read
		return nil, errors.Join(err, umpire.Errorf("%s changed while it was read", name))
	}
	return f, nil
}

// lend restores the owner's right to read an entry of a layer if the command removed it,
// until back is called. Root does not need it.
func (d *dir) lend(name string, info *unix.Stat_t) (back func(), err error) {
	needed := uint32(0o400)
	switch kindOf(info) {
	case unix.S_IFDIR:
		needed = 0o500
	case unix.S_IFREG:
	default:
		return func() {}, nil
	}
	if info.Mode&needed == needed || int(info.Uid) != os.Geteuid() || os.Geteuid() == 0 {
		return func() {}, nil
	}
	mode := info.Mode & 0o7777
	return func() { _ = unix.Fchmodat(d.fd(), name, mode, 0) }, unix.Fchmodat(d.fd(), name, mode|needed, 0)
}

// child opens a subfolder.
func (d *dir) child(name string, info *unix.Stat_t) (*dir, error) {
	f, err := d.openIn(name, unix.O_DIRECTORY, info)
	if err != nil {
		return nil, err
	}
	return &dir{f}, nil
}

// kindOf returns the type part of a mode.
func kindOf(info *unix.Stat_t) uint32 { return info.Mode & unix.S_IFMT }

func isWhiteout(info *unix.Stat_t) bool { return kindOf(info) == unix.S_IFCHR && info.Rdev == 0 }

// entryOf converts attributes to an Entry, without digest and link target.
func entryOf(info *unix.Stat_t) Entry {
	if info.Ino == 0 {
		return Entry{}
	}
	e := Entry{
		Type: typeOf(info.Mode), ModTime: time.Unix(info.Mtim.Unix()), UID: int(info.Uid), GID: int(info.Gid),
		Device: info.Dev, Inode: info.Ino, Links: uint64(info.Nlink), //nolint:unconvert // 32 bits on some machines
	}
	if e.Type.IsRegular() {
		e.Size = info.Size
	}
	return e
}

// typeOf converts a mode to Go's form.
func typeOf(mode uint32) fs.FileMode {
	t := fs.FileMode(mode & 0o777)
	switch mode & unix.S_IFMT {
	case unix.S_IFDIR:
		t |= fs.ModeDir
	case unix.S_IFLNK:
		t |= fs.ModeSymlink
	case unix.S_IFIFO:
		t |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		t |= fs.ModeSocket
	case unix.S_IFBLK:
		t |= fs.ModeDevice
	case unix.S_IFCHR:
		t |= fs.ModeDevice | fs.ModeCharDevice
	}
	for _, b := range modeBits {
		if mode&b.system != 0 {
			t |= b.mode
		}
	}
	return t
}

// overlayPrefix starts the names of the kernel's own attributes. If a command sets one of
// them, the kernel stores it with escapedPrefix.
const (
	overlayPrefix = "user.overlay."
	escapedPrefix = "user.overlay.overlay."
)

// harmless are the kernel's attributes that do not change what a layer shows, except
// opaque, which the reader handles.
var harmless = []string{"opaque", "origin", "impure", "nlink", "upper", "uuid"}

// attributes returns the extended attributes of an entry: the kernel's attributes for the
// layer, and the others with their values.
func (d *dir) attributes(name string) (overlay map[string]string, others string, err error) {
	path := fmt.Sprintf("/proc/self/fd/%d/%s", d.fd(), name)
	list := make([]byte, maxExtended)
	n, err := unix.Llistxattr(path, list)
	if err != nil || n == 0 {
		if errors.Is(err, unix.ENOTSUP) {
			err = nil
		}
		return nil, "", err
	}
	names := strings.Split(strings.TrimRight(string(list[:n]), "\x00"), "\x00")
	slices.Sort(names)
	for _, attribute := range names {
		if strings.HasPrefix(attribute, "security.") || strings.HasPrefix(attribute, "trusted.") {
			continue // the kernel's own; commands in a sandbox cannot set them
		}
		value := make([]byte, maxExtended)
		n, err := unix.Lgetxattr(path, attribute, value)
		if err != nil {
			return nil, "", err
		}
		own, is := strings.CutPrefix(attribute, overlayPrefix)
		if !is || strings.HasPrefix(attribute, escapedPrefix) {
			others += fmt.Sprintf("%q=%q\n", attribute, value[:n])
			continue
		}
		if overlay == nil {
			overlay = map[string]string{}
		}
		overlay[own] = string(value[:n])
	}
	return overlay, others, nil
}

// digestIn returns the digest of a regular file in the folder.
func (d *dir) digestIn(ctx context.Context, name string, info *unix.Stat_t) (string, int64, error) {
	f, err := d.openIn(name, 0, info)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	return digestContent(ctx, f)
}
