package files

import "golang.org/x/sys/unix"

// FreeBytes returns how many bytes an ordinary user can still write to a folder's file system.
func FreeBytes(dir string) (uint64, error) {
	var info unix.Statfs_t
	err := unix.Statfs(dir, &info)
	return info.Bavail * uint64(info.Bsize), err
}
