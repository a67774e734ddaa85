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

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/hold/process"
)

// A probe is an attempt. Success does no harm: it changes only files made for it, and
// opens the machine's settings without changing them.
type probe struct {
	group, name string
	try         func(*testBed) error
}

// probes are all attempts. The table in docs/sandbox.md is generated from them. Paths below o are
// outside of the workspace, and those below w are inside.
var probes = []probe{
	{ofFiles, "write a file", on("o/write", writeProbe)},
	{ofFiles, "create a file", on("o/new", writeProbe)},
	{ofFiles, "make a folder", on("o/dir", func(path string) error { return os.Mkdir(path, 0o755) })},
	{ofFiles, "truncate a file", on("o/truncate", func(path string) error { return os.Truncate(path, 0) })},
	{ofFiles, "delete a file", on("o/unlink", os.Remove)},
	{ofFiles, "write through a link", on("w/way-out/write", writeProbe)},
	{ofFiles, "write through /proc/self/root", on("o/write", throughRoot)},
	{ofFiles, "open again for writing", on("o/reopen", probeReopen)},
	{ofFiles, "write by a grandchild", on("o/child", func(p string) error { return runShell("(echo y >" + p + ")") })},
	{ofFiles, "link into the workspace", between("o/link", "w/linked", os.Link)},
	{ofFiles, "move into the workspace", between("o/rename", "w/renamed", os.Rename)},
	{ofFiles, "chmod", on("o/mode", func(path string) error { return os.Chmod(path, 0o777) })},
	{ofFiles, "chown", on("o/mode", func(path string) error { return os.Chown(path, os.Getuid(), os.Getgid()) })},
	{ofFiles, "utimes", on("o/time", func(p string) error { return os.Chtimes(p, time.Unix(1, 0), time.Unix(1, 0)) })},
	{ofFiles, "setxattr", on("o/attribute", setAttribute)},

	{ofGuarded, "write a git hook", on("w/.git/hooks/pre-commit", writeProbe)},
	{ofGuarded, "add a git hook", on("w/.git/hooks/post-merge", writeProbe)},
	{ofGuarded, "chmod a git hook", on("w/.git/hooks/pre-commit", func(p string) error { return os.Chmod(p, 0o755) })},
	{ofGuarded, "link a git hook", between("w/.git/hooks/pre-commit", "w/hook", os.Link)},
	{ofGuarded, "write .git/config", on("w/.git/config", writeProbe)},
	{ofGuarded, "replace .git/config", between("w/own", "w/.git/config", os.Rename)},
	{ofGuarded, "move .git/hooks", between("w/.git/hooks", "w/hooks", os.Rename)},
	{ofGuarded, "move .git", between("w/.git", "w/git", os.Rename)},
	{ofGuarded, "write umpire's rules", on("w/.umpire/permissions.json", writeProbe)},
	{ofGuarded, "move umpire's rules", between("w/.umpire", "w/rules", os.Rename)},
	{ofGuarded, "make .vscode/tasks.json", on("w/.vscode/tasks.json", makeFile)},
	{ofGuarded, "make .mcp.json", on("w/.mcp.json", makeFile)},

	{ofNetwork, "unix socket by path", on("o/socket", dialByPath)},
	{ofNetwork, "unix socket by name", func(s *testBed) error { return probeDial("unix", s.Abstract) }},
	{ofNetwork, "TCP", func(s *testBed) error { return probeDial("tcp", s.TCP) }},
	{ofNetwork, "UDP", sendUDP},
	{ofNetwork, "MPTCP", probeSocket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP)},
	{ofNetwork, "ICMP", probeSocket(unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP)},
	{ofNetwork, "raw packets", probeSocket(unix.AF_PACKET, unix.SOCK_RAW, 0)},
	{ofNetwork, "vsock", probeSocket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)},
	{ofNetwork, "netfilter", probeSocket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER)},
	{ofNetwork, "change an interface", alone(RaiseLoopback)}, // it is already enabled, but that needs the capability

	{ofProcesses, "see other processes", onOtherFile("stat", statProbe)},
	{ofProcesses, "signal other processes", onOther(func(pid int) error { return unix.Kill(pid, 0) })},
	{ofProcesses, "read their environment", onOtherFile("environ", readProbe)},
	{ofProcesses, "write their memory", onOtherFile("mem", writeProbe)},
	{ofProcesses, "ptrace them", onOther(seize)},
	{ofProcesses, "ptrace the sandbox's first", alone(func() error { return seize(1) })},
	{ofProcesses, "type into a terminal", alone(typeIn)},

	{ofKernel, "user namespace by clone3", alone(clone3)},
	{ofKernel, "user namespace by unshare", alone(func() error { return runShell("unshare -U true") })},
	{ofKernel, "mount namespace", probeCall(unix.SYS_UNSHARE, unix.CLONE_NEWNS)},
	{ofKernel, "join a namespace", alone(probeSetns)},
	{ofKernel, "mount", on("w", func(path string) error { return unix.Mount("none", path, "tmpfs", 0, "") })},
	{ofKernel, "make a mount writable", alone(remountRoot)},
	{ofKernel, "unmount", alone(func() error { return unix.Unmount("/dev/shm", unix.MNT_DETACH) })},
	{ofKernel, "chroot", alone(func() error { return unix.Chroot("/") })},
	{ofKernel, "io_uring", alone(ioUring)},
	{ofKernel, "bpf", alone(bpfMap)},
	{ofKernel, "perf events", alone(probePerf)},
	{ofKernel, "keyrings", alone(openKeyring)},
	{ofKernel, "userfaultfd", alone(func() error { return callAndClose(unix.SYS_USERFAULTFD, 1) })},
	{ofKernel, "open a file by its handle", on("o/write", byHandle)},
	{ofKernel, "32-bit system calls", probeCall(unix.SYS_GETPID|x32, 0)},
	{ofKernel, "core_pattern", alone(func() error { return openTo("/proc/sys/kernel/core_pattern") })},
	{ofKernel, "sysrq", alone(func() error { return openTo("/proc/sysrq-trigger") })},
	{ofKernel, "open a disk", probeDisk},
	{ofKernel, "make a device", on("w/disk", makeDevice)},
	{ofKernel, "gain rights by a program", alone(newRights)},
}

// alone makes a probe without a target.
func alone(try func() error) func(*testBed) error { return func(*testBed) error { return try() } }

// on makes a probe of one path, and between one of two paths.
func on(name string, try func(path string) error) func(*testBed) error {
	return func(s *testBed) error { return try(s.at(name)) }
}

func between(from, to string, try func(from, to string) error) func(*testBed) error {
	return func(s *testBed) error { return try(s.at(from), s.at(to)) }
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

func onOtherFile(name string, try func(path string) error) func(*testBed) error {
	return onOther(func(pid int) error { return try(fmt.Sprintf("/proc/%d/%s", pid, name)) })
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

func remountRoot() error { return unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND, "") }

func statProbe(path string) error {
	_, err := os.Stat(path)
	return err
}

func readProbe(path string) error {
	_, err := os.ReadFile(path)
	return err
}

func writeProbe(path string) error { return os.WriteFile(path, []byte("y"), 0o644) }

func throughRoot(path string) error { return writeProbe("/proc/self/root" + path) }

func setAttribute(path string) error { return unix.Setxattr(path, "user.umpire", []byte("x"), 0) }

func makeDevice(path string) error {
	return unix.Mknod(path, unix.S_IFBLK|0o600, int(unix.Mkdev(8, 0)))
}

func makeFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return writeProbe(path)
}

func probeReopen(path string) error {
	f, err := os.Open(path)
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

func dialByPath(path string) error {
	name, release, err := files.SocketName(path)
	if err != nil {
		return err
	}
	defer release() //nolint:errcheck // it was only looked up
	return probeDial("unix", name)
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

func probeSocket(family, kind, protocol int) func(*testBed) error {
	return func(*testBed) error {
		fd, err := unix.Socket(family, kind, protocol)
		if err == nil {
			closeFD(fd)
		}
		return err
	}
}

func probeCall(number, argument uintptr) func(*testBed) error {
	return func(*testBed) error { return callKernel(number, argument, 0, 0) }
}

func seize(pid int) error { return callKernel(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(pid), 0) }

func openKeyring() error {
	_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
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
func typeIn() error {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	letter := byte('x')
	return callKernel(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSTI, uintptr(unsafe.Pointer(&letter)))
}

// clone3 creates a child in a user namespace. The child exits at once.
func clone3() error {
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

func probeSetns() error {
	fd, err := unix.Open("/proc/self/ns/uts", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	return unix.Setns(fd, unix.CLONE_NEWUTS)
}

func ioUring() error {
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

func probePerf() error {
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_TASK_CLOCK}
	attr.Size = uint32(unsafe.Sizeof(attr))
	fd, err := unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err == nil {
		closeFD(fd)
	}
	return err
}

func byHandle(path string) error {
	handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, path, 0)
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
func newRights() error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	if strings.Contains(string(status), "NoNewPrivs:\t1\n") {
		return unix.EPERM
	}
	return nil
}
