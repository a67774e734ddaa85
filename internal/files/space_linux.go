package files

import "golang.org/x/sys/unix"

// FreeBytes returns how much an ordinary user can still write to the file system that a folder lies on.
func FreeBytes(dir string) (uint64, error) {
	var info unix.Statfs_t
	err := unix.Statfs(dir, &info)
	return info.Bavail * uint64(info.Bsize), err
}
