package sandbox

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
)

// lastCapability is larger than any known capability, so future ones are dropped too.
const lastCapability = 63

// dropCapabilities removes all capabilities from this thread and its children, and all
// ways to regain them.
func (h *helper) dropCapabilities() error { return h.keepCapabilities(0) }

// keepCapabilities is dropCapabilities for a thread that keeps some, which what it starts does not get.
func (h *helper) keepCapabilities(kept uint32) error {
	for c := range lastCapability + 1 {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0)
		if errors.Is(err, unix.EINVAL) {
			break // there are no more
		}
		if errors.Is(err, unix.EPERM) && !h.Layers.has(withNamespaces) {
			break // nothing to drop without a namespace
		}
		if err != nil {
			return umpire.Errorf("bounding set: %w", err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return umpire.Errorf("ambient set: %w", err)
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	rights := [2]unix.CapUserData{{Effective: kept, Permitted: kept}}
	if err := unix.Capset(&head, &rights[0]); err != nil {
		return umpire.Errorf("capset: %w", err)
	}
	return nil
}

// The rights that Landlock denies outside of the writable folders, by the version that
// introduced them.
const (
	landlockWrites = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	landlockMoves    = unix.LANDLOCK_ACCESS_FS_REFER     // version 2
	landlockTruncate = unix.LANDLOCK_ACCESS_FS_TRUNCATE  // version 3
	landlockDevices  = unix.LANDLOCK_ACCESS_FS_IOCTL_DEV // version 5
	// landlockFile are the rights that can be granted for a file that is not a folder.
	landlockFile = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | landlockTruncate | landlockDevices

	landlockTCP   = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP      // version 4
	landlockScope = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL         // version 6
	landlockUDP   = unix.LANDLOCK_ACCESS_NET_BIND_UDP | unix.LANDLOCK_ACCESS_NET_CONNECT_SEND_UDP // version 10
)

// leastLandlock is the first version that prevents truncating a file.
const leastLandlock = 3

// landlockVersion returns the kernel's Landlock version, or 0 if there is none.
func landlockVersion() int {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(version)
}

// landlockRules returns the default restrictions. Landlock knows ports but not addresses,
// so only the network namespace confines a command with a private loopback.
func landlockRules(version int, far reach) unix.LandlockRulesetAttr {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: landlockWrites | landlockMoves | landlockTruncate}
	if version >= 5 {
		attr.Handled_access_fs |= landlockDevices
	}
	if version >= 4 && far == reachNothing {
		attr.Handled_access_net = landlockTCP
	}
	if version >= 10 && far == reachNothing {
		attr.Handled_access_net |= landlockUDP
	}
	if version >= 6 {
		attr.Scoped = landlockScope
	}
	return attr
}

// landlock forbids writing outside of the writable folders again, in case a mount does
// not prevent it.
func (h *helper) landlock() error {
	version := landlockVersion()
	if version < leastLandlock {
		return umpire.Errorf("the kernel has version %d, and %d is needed", version, leastLandlock)
	}
	attr := landlockRules(version, h.Reach)
	fd, _, errno := unix.Syscall(
		unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0,
	)
	if errno != 0 {
		return umpire.Errorf("make the rules: %w", errno)
	}
	rules := os.NewFile(fd, "landlock")
	defer rules.Close()
	for _, path := range h.written() {
		if err := letWrite(rules, path, attr.Handled_access_fs); err != nil {
			return umpire.Errorf("%s: %w", path, err)
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, rules.Fd(), 0, 0); errno != 0 {
		return umpire.Errorf("restrict: %w", errno)
	}
	return nil
}

// letWrite allows writing below a path.
func letWrite(rules *os.File, path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return err
	}
	if info.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= landlockFile
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(
		unix.SYS_LANDLOCK_ADD_RULE, rules.Fd(), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0,
		0,
	)
	if errno != 0 {
		return errno
	}
	return nil
}

// written returns the writable paths, including those that every command may write.
func (h *helper) written() []string {
	paths := h.order.writable()
	if !h.Layers.has(withNamespaces) {
		for _, node := range deviceNodes {
			paths = append(paths, "/dev/"+node)
		}
		if h.Tmp != "" {
			paths = append(paths, h.Tmp)
		}
		return paths
	}
	for i := range h.Caches {
		paths = append(paths, h.Caches[i].shown()...)
	}
	return append(paths, "/tmp", "/var/tmp", "/dev")
}
