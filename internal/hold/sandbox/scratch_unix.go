//go:build linux || darwin

package sandbox

import (
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// lockScratch marks a folder as in use. It locks the mark before giving it its name, so a
// visible mark is always locked.
func lockScratch(dir string) (release func(), err error) {
	path := filepath.Join(dir, scratchLock)
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, err
	}
	return func() {
		// A process that is just starting may have inherited the file.
		_ = unix.Flock(int(f.Fd()), unix.LOCK_UN)
		_ = f.Close() // nothing was written
	}, nil
}

// seizeScratch takes over a folder of this user whose process has died.
func seizeScratch(dir string) (free func(), dead bool) {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		return nil, false
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || int(s.Uid) != os.Geteuid() {
		return nil, false
	}
	f, err := os.OpenFile(filepath.Join(dir, scratchLock), os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, false
	}
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		_ = f.Close() // nothing was written
		return nil, false
	}
	return func() { _ = f.Close() }, true
}
