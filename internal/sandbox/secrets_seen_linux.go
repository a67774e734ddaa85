package sandbox

import (
	"slices"

	"golang.org/x/sys/unix"
)

// timedSystems are the file systems that change a folder's time whenever a name in it changes, and
// let nobody set it.
var timedSystems = []int64{unix.EXT4_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.TMPFS_MAGIC}

// timedDevices are the devices of those folders that lie in such a file system.
func timedDevices(folders []string) (devices []uint64) {
	for _, folder := range folders {
		var system unix.Statfs_t
		var info unix.Stat_t
		if unix.Statfs(folder, &system) != nil || unix.Stat(folder, &info) != nil {
			continue
		}
		if slices.Contains(timedSystems, int64(system.Type)) { //nolint:unconvert // 32 bits on some machines
			devices = append(devices, uint64(info.Dev)) //nolint:unconvert // 32 bits on some machines
		}
	}
	return devices
}
