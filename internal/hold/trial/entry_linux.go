package trial

import (
	"context"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire/internal/files"
)

// modeBits are the permissions other than read, write and execute.
var modeBits = [...]struct {
	system uint32
	mode   fs.FileMode
}{{unix.S_ISUID, fs.ModeSetuid}, {unix.S_ISGID, fs.ModeSetgid}, {unix.S_ISVTX, fs.ModeSticky}}

// permissionsOf returns the system's permission bits for a mode.
func permissionsOf(mode fs.FileMode) uint32 {
	system := uint32(mode.Perm())
	for _, b := range modeBits {
		if mode&b.mode != 0 {
			system |= b.system
		}
	}
	return system
}

// statAt returns the entry at a name in an open folder, or the zero Entry if nothing
// exists. It does not read the content.
func statAt(folder int, name string) (Entry, time.Time, error) {
	var st unix.Stat_t
	err := unix.Fstatat(folder, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if files.Missing(err) {
		return Entry{}, time.Time{}, nil
	}
	if err != nil {
		return Entry{}, time.Time{}, err
	}
	return entryOf(&st), time.Unix(st.Ctim.Unix()), nil
}

// readAt returns the entry at a name in an open folder with its content's digest, and the
// time of its last change.
func readAt(ctx context.Context, folder int, name string) (Entry, time.Time, error) {
	e, changed, err := statAt(folder, name)
	if err != nil || !e.Exists() {
		return e, changed, err
	}
	switch {
	case e.Type.IsRegular():
		f, err := openFile(folder, name)
		if err != nil {
			return Entry{}, time.Time{}, err
		}
		defer f.Close()
		return readFile(ctx, f)
	case e.Type&fs.ModeSymlink != 0:
		e.Link, err = readLinkAt(folder, name)
	}
	return e, changed, err
}

// openFile opens a file in an open folder without blocking.
func openFile(folder int, name string) (*os.File, error) {
	fd, err := files.OpenBeneath(folder, name, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

// readFile returns the entry of an open file with its content's digest.
func readFile(ctx context.Context, f *os.File) (Entry, time.Time, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return Entry{}, time.Time{}, err
	}
	e := entryOf(&st)
	if !e.Type.IsRegular() {
		return Entry{}, time.Time{}, &fs.PathError{Op: "read", Path: f.Name(), Err: files.ErrNotRegular}
	}
	var err error
	e.Digest, _, err = digestContent(ctx, f)
	return e, time.Unix(st.Ctim.Unix()), err
}

func readLinkAt(folder int, name string) (string, error) {
	target := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(folder, name, target)
	if err != nil {
		return "", &fs.PathError{Op: "read link", Path: name, Err: err}
	}
	return string(target[:n]), nil
}
