package sandbox

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire/internal/hold/process"
)

// A probe is an attempt. Success does no harm: it changes only files made for it, and
// opens the machine's settings without changing them.
type probe struct {
	group, name string
	try         func(*testBed) error
}

// probes are all attempts. The table in docs/sandbox.md is generated from them.
var probes = []probe{
	{ofFiles, "write a file", func(s *testBed) error { return writeProbe(s.outside("write")) }},
	{ofFiles, "create a file", func(s *testBed) error { return writeProbe(s.outside("new")) }},
	{ofFiles, "make a folder", func(s *testBed) error { return os.Mkdir(s.outside("dir"), 0o755) }},
	{ofFiles, "truncate a file", func(s *testBed) error { return os.Truncate(s.outside("truncate"), 0) }},
	{ofFiles, "delete a file", func(s *testBed) error { return os.Remove(s.outside("unlink")) }},
	{ofFiles, "write through a link", func(s *testBed) error { return writeProbe(s.inside("way-out/write")) }},
	{
		ofFiles, "write through /proc/self/root",
		func(s *testBed) error { return writeProbe("/proc/self/root" + s.outside("write")) },
	},
	{ofFiles, "open again for writing", probeReopen},
	{
		ofFiles, "write by a grandchild",
		func(s *testBed) error { return runShell("(echo y >" + s.outside("child") + ")") },
	},
	{
		ofFiles, "link into the workspace",
		func(s *testBed) error { return os.Link(s.outside("link"), s.inside("linked")) },
	},
	{
		ofFiles, "move into the workspace",
		func(s *testBed) error { return os.Rename(s.outside("rename"), s.inside("renamed")) },
	},
	{ofFiles, "chmod", func(s *testBed) error { return os.Chmod(s.outside("mode"), 0o777) }},
	{ofFiles, "chown", func(s *testBed) error { return os.Chown(s.outside("mode"), os.Getuid(), os.Getgid()) }},
	{
		ofFiles, "utimes",
		func(s *testBed) error { return os.Chtimes(s.outside("time"), time.Unix(1, 0), time.Unix(1, 0)) },
	},
	{
		ofFiles, "setxattr",
		func(s *testBed) error { return unix.Setxattr(s.outside("attribute"), "user.umpire", []byte("x"), 0) },
	},

	{ofGuarded, "write a git hook", func(s *testBed) error { return writeProbe(s.inside(".git/hooks/pre-commit")) }},
	{ofGuarded, "add a git hook", func(s *testBed) error { return writeProbe(s.inside(".git/hooks/post-merge")) }},
	{
		ofGuarded, "chmod a git hook",
		func(s *testBed) error { return os.Chmod(s.inside(".git/hooks/pre-commit"), 0o755) },
	},
	{
		ofGuarded, "link a git hook",
		func(s *testBed) error { return os.Link(s.inside(".git/hooks/pre-commit"), s.inside("hook")) },
	},
	{ofGuarded, "write .git/config", func(s *testBed) error { return writeProbe(s.inside(".git/config")) }},
	{
		ofGuarded, "replace .git/config",
		func(s *testBed) error { return os.Rename(s.inside("own"), s.inside(".git/config")) },
	},
	{
		ofGuarded, "move .git/hooks",
		func(s *testBed) error { return os.Rename(s.inside(".git/hooks"), s.inside("hooks")) },
	},
	{ofGuarded, "move .git", func(s *testBed) error { return os.Rename(s.inside(".git"), s.inside("git")) }},
	{
		ofGuarded, "write umpire's rules",
		func(s *testBed) error { return writeProbe(s.inside(".umpire/permissions.json")) },
	},
	{
		ofGuarded, "move umpire's rules",
		func(s *testBed) error { return os.Rename(s.inside(".umpire"), s.inside("rules")) },
	},
	{ofGuarded, "make .vscode/tasks.json", func(s *testBed) error { return makeFile(s.inside(".vscode/tasks.json")) }},
	{ofGuarded, "make .mcp.json", func(s *testBed) error { return makeFile(s.inside(".mcp.json")) }},

	{ofNetwork, "unix socket by path", dialByPath},
	{ofNetwork, "unix socket by name", func(s *testBed) error { return probeDial("unix", s.Abstract) }},
	{ofNetwork, "TCP", func(s *testBed) error { return probeDial("tcp", s.TCP) }},
	{ofNetwork, "UDP", sendUDP},
	{
		ofNetwork, "MPTCP",
		func(*testBed) error { return probeSocket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP) },
	},
	{ofNetwork, "ICMP", func(*testBed) error { return probeSocket(unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP) }},
	{ofNetwork, "raw packets", func(*testBed) error { return probeSocket(unix.AF_PACKET, unix.SOCK_RAW, 0) }},
	{ofNetwork, "vsock", func(*testBed) error { return probeSocket(unix.AF_VSOCK, unix.SOCK_STREAM, 0) }},
	{
		ofNetwork, "netfilter",
		func(*testBed) error { return probeSocket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER) },
	},
	{ofNetwork, "change an interface", changeInterface},

	{ofProcesses, "see other processes", onOther(func(pid int) error {
		_, err := os.Stat(fmt.Sprintf("/proc/%d/stat", pid))
		return err
	})},
	{ofProcesses, "signal other processes", onOther(func(pid int) error { return unix.Kill(pid, 0) })},
	{ofProcesses, "read their environment", onOther(func(pid int) error {
		_, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		return err
	})},
	{ofProcesses, "write their memory", onOther(func(pid int) error {
		return writeProbe(fmt.Sprintf("/proc/%d/mem", pid))
	})},
	{ofProcesses, "ptrace them", onOther(func(pid int) error {
		return callKernel(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(pid), 0)
	})},
	{
		ofProcesses, "ptrace the sandbox's first",
		func(*testBed) error { return callKernel(unix.SYS_PTRACE, unix.PTRACE_SEIZE, 1, 0) },
	},
	{ofProcesses, "type into a terminal", typeIn},

	{ofKernel, "user namespace by clone3", clone3},
	{ofKernel, "user namespace by unshare", func(*testBed) error { return runShell("unshare -U true") }},
	{ofKernel, "mount namespace", func(*testBed) error { return callKernel(unix.SYS_UNSHARE, unix.CLONE_NEWNS, 0, 0) }},
	{ofKernel, "join a namespace", probeSetns},
	{ofKernel, "mount", func(s *testBed) error { return unix.Mount("none", s.Workspace, "tmpfs", 0, "") }},
	{
		ofKernel, "make a mount writable",
		func(s *testBed) error { return unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND, "") },
	},
	{ofKernel, "unmount", func(s *testBed) error { return unix.Unmount("/dev/shm", unix.MNT_DETACH) }},
	{ofKernel, "chroot", func(*testBed) error { return unix.Chroot("/") }},
	{ofKernel, "io_uring", ioUring},
	{ofKernel, "bpf", func(*testBed) error { return bpfMap() }},
	{ofKernel, "perf events", probePerf},
	{
		ofKernel, "keyrings",
		func(*testBed) error {
			_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
			return err
		},
	},
	{ofKernel, "userfaultfd", func(*testBed) error { return callAndClose(unix.SYS_USERFAULTFD, 1) }},
	{ofKernel, "open a file by its handle", byHandle},
	{ofKernel, "32-bit system calls", func(*testBed) error { return callKernel(unix.SYS_GETPID|x32, 0, 0, 0) }},
	{ofKernel, "core_pattern", func(*testBed) error { return openTo("/proc/sys/kernel/core_pattern") }},
	{ofKernel, "sysrq", func(*testBed) error { return openTo("/proc/sysrq-trigger") }},
	{ofKernel, "open a disk", probeDisk},
	{
		ofKernel, "make a device",
		func(s *testBed) error { return unix.Mknod(s.inside("disk"), unix.S_IFBLK|0o600, int(unix.Mkdev(8, 0))) },
	},
	{ofKernel, "gain rights by a program", newRights},
}

// onOther makes a probe of the process outside. In a container, a process of the sandbox
// may have the same id; the outside process then counts as invisible.
func onOther(try func(pid int) error) func(*testBed) error {
	return func(s *testBed) error {
		if _, started, ok := process.Stat(s.Process); ok && started != s.Started {
			return unix.ESRCH
		}
		return try(s.Process)
	}
}

// loopbackProbes are stopped only by the network namespace if a command has a loopback:
// the other layers refuse the sockets only without one.
var loopbackProbes = []string{"TCP", "UDP"}

func openTo(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_ = f.Close() // nothing was written
	}
	return err
}

func writeProbe(path string) error { return os.WriteFile(path, []byte("y"), 0o644) }

func makeFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return writeProbe(path)
}

func probeReopen(s *testBed) error {
	f, err := os.Open(s.outside("reopen"))
	if err != nil {
		return err
	}
	defer f.Close()
	return openTo(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
}

// runShell returns only whether a command line succeeded.
func runShell(line string) error {
	if exec.Command("/bin/sh", "-c", line).Run() != nil { //nolint:noctx // the prober ends with its sandbox
		return unix.EPERM
	}
	return nil
}

func probeDial(network, address string) error {
	c, err := net.DialTimeout(network, address, 30*time.Second) //nolint:noctx // it has a limit
	if err == nil {
		_ = c.Close() // opening it was the test
	}
	return err
}

func dialByPath(s *testBed) error {
	path, folder, err := shortPath(s.outside("socket"))
	if err != nil {
		return err
	}
	defer folder.Close()
	return probeDial("unix", path)
}

func sendUDP(s *testBed) error {
	c, err := net.Dial("udp", s.UDP) //nolint:noctx // nothing blocks here
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Write([]byte("x")); err != nil {
		return err
	}
	_, err = c.Write([]byte("x")) // by now the first one is known to be undelivered
	return err
}

// changeInterface enables a loopback that is already enabled, which needs the capability.
func changeInterface(*testBed) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	return switchOn(fd, "lo")
}

func probeSocket(family, kind, protocol int) error {
	fd, err := unix.Socket(family, kind, protocol)
	if err == nil {
		closeFD(fd)
	}
	return err
}

func callKernel(number, a, b, c uintptr) error {
	if _, _, errno := unix.Syscall6(number, a, b, c, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// callAndClose makes a call that returns a file, and closes the file.
func callAndClose(number, a uintptr) error {
	fd, _, errno := unix.Syscall(number, a, 0, 0)
	if errno != 0 {
		return errno
	}
	return unix.Close(int(fd))
}

// typeIn types into its own terminal.
func typeIn(*testBed) error {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	letter := byte('x')
	return callKernel(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSTI, uintptr(unsafe.Pointer(&letter)))
}

// clone3 creates a child in a user namespace. The child exits at once.
func clone3(*testBed) error {
	args := [11]uint64{unix.CLONE_NEWUSER, 0, 0, 0, uint64(unix.SIGCHLD)}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pid, _, errno := unix.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args), 0)
	if errno != 0 {
		return errno
	}
	if pid == 0 {
		for {
			_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
	_, err := unix.Wait4(int(pid), nil, 0, nil)
	return err
}

func probeSetns(*testBed) error {
	fd, err := unix.Open("/proc/self/ns/uts", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	return unix.Setns(fd, unix.CLONE_NEWUTS)
}

func ioUring(*testBed) error {
	var parameters [120]byte
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&parameters)), 0)
	if errno != 0 {
		return errno
	}
	return unix.Close(int(fd))
}

// bpfMap creates a map with one entry.
func bpfMap() error {
	attr := [32]uint32{2, 4, 4, 1} // array, key size, value size, entries
	fd, _, errno := unix.Syscall(unix.SYS_BPF, unix.BPF_MAP_CREATE, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
	if errno != 0 {
		return errno
	}
	return unix.Close(int(fd))
}

func probePerf(*testBed) error {
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_TASK_CLOCK}
	attr.Size = uint32(unsafe.Sizeof(attr))
	fd, err := unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err == nil {
		closeFD(fd)
	}
	return err
}

func byHandle(s *testBed) error {
	handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, s.outside("write"), 0)
	if err != nil {
		return err
	}
	root, err := unix.Open("/", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer closeFD(root)
	fd, err := unix.OpenByHandleAt(root, handle, unix.O_RDONLY)
	if err == nil {
		closeFD(fd)
	}
	return err
}

func probeDisk(s *testBed) error {
	if s.Disk == "" {
		return errNotFound
	}
	return openTo(s.Disk)
}

// newRights tests whether set-id programs still give rights.
func newRights(*testBed) error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	if strings.Contains(string(status), "NoNewPrivs:\t1\n") {
		return unix.EPERM
	}
	return nil
}
