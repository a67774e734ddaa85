package sandbox

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// idOf returns a file's identity and the number of its names.
func idOf(info fs.FileInfo) (fileID, uint64) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}, 1
	}
	return fileID{s.Dev, s.Ino}, uint64(s.Nlink) //nolint:unconvert // 32 bits on some machines
}

// linksOf is like idOf for a name in an open folder; 0 names means that it is gone.
func linksOf(dir *os.File, name string) (fileID, uint64) {
	var s unix.Stat_t
	if unix.Fstatat(int(dir.Fd()), name, &s, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return fileID{}, 0
	}
	return fileID{s.Dev, s.Ino}, uint64(s.Nlink) //nolint:unconvert // 32 bits on some machines
}
