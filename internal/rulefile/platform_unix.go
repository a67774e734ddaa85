//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package rulefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire/internal/files"
)

// openFlags keep the opening of a pipe from waiting for its writer, and of a
// terminal from becoming ours.
const openFlags = unix.O_NONBLOCK | unix.O_NOCTTY

// ownedByAdmin reports whether only the administrator can have written the file of info.
func ownedByAdmin(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == files.Managed.UID && info.Mode().Perm()&0o022 == 0
}

// fileNumber is the number of the file's inode.
func fileNumber(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ino
	}
	return 0
}

// tryLock takes the lock file at path, or reports errBusy. The returned
// function gives it back.
func tryLock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|openFlags|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		err = errBusy
	}
	if err == nil && !isSameFile(f, path) {
		err = errBusy // the previous holder has just removed the file
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() {
		_ = os.Remove(path)
		_ = f.Close()
	}, nil
}

// isSameFile reports whether path still names the open file.
func isSameFile(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(open, named)
}

// writableByOthers reports whether other users can change a file with this mode.
func writableByOthers(mode fs.FileMode) bool { return mode.Perm()&0o022 != 0 }

// WritableByAll reports whether every user of the machine can change a file: by its own mode,
// or by that of its folder, in which they could replace it. Such a file does not speak for
// the person.
func WritableByAll(path string) bool {
	const all = 0o002
	file, err := os.Stat(path)
	if err != nil {
		return false // there is no file to distrust
	}
	folder, err := os.Stat(filepath.Dir(path))
	return file.Mode().Perm()&all != 0 ||
		err == nil && folder.Mode().Perm()&all != 0 && folder.Mode()&fs.ModeSticky == 0
}
