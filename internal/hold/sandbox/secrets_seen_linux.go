package sandbox

import (
	"slices"

	"golang.org/x/sys/unix"
)

// timedSystems are the file systems that update a folder's change time whenever a name in
// it changes, and do not let programs set it.
var timedSystems = []int64{unix.EXT4_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.TMPFS_MAGIC}

// timedDevices returns the devices of the folders on such a file system.
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
