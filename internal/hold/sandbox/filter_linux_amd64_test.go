package sandbox

import (
	"encoding/binary"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// TestFilter runs the filter like the kernel, including on calls of other architectures,
// which this machine cannot make.
func TestFilter(t *testing.T) {
	t.Parallel()
	const amd64, i386 = unix.AUDIT_ARCH_X86_64, 0x40000003
	allow, refuse, missing := permit.Val, refuse.Val, missing.Val
	for _, tt := range []struct {
		name      string
		reach     reach
		processor uint32
		number    uint32
		args      [4]uint64
		want      uint32
	}{
		{"read", reachNothing, amd64, unix.SYS_READ, [4]uint64{}, allow},
		{"of a 32-bit program", reachNothing, i386, 102, [4]uint64{1}, missing},
		{"of x32", reachNothing, amd64, unix.SYS_SOCKET | x32, [4]uint64{unix.AF_INET}, missing},
		{"unix socket", reachNothing, amd64, unix.SYS_SOCKET, [4]uint64{unix.AF_UNIX}, allow},
		{"internet socket", reachNothing, amd64, unix.SYS_SOCKET, [4]uint64{unix.AF_INET}, refuse},
		{"internet socket with more bits", reachNothing, amd64, unix.SYS_SOCKET, [4]uint64{unix.AF_INET | 1<<40}, refuse},
		{"internet socket with a network", reachMachine, amd64, unix.SYS_SOCKET, [4]uint64{unix.AF_INET6}, allow},
		{"vsock with a network", reachMachine, amd64, unix.SYS_SOCKET, [4]uint64{unix.AF_VSOCK}, refuse},
		{"TCP on a loopback", reachItself, amd64, unix.SYS_SOCKET, [4]uint64{unix.AF_INET, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, allow},
		{"TCP by its number", reachItself, amd64, unix.SYS_SOCKET, [4]uint64{unix.AF_INET6, unix.SOCK_STREAM, unix.IPPROTO_TCP}, allow},
		{"UDP on a loopback", reachItself, amd64, unix.SYS_SOCKET, [4]uint64{unix.AF_INET6, unix.SOCK_DGRAM | unix.SOCK_NONBLOCK, unix.IPPROTO_UDP}, allow},
		{"unix socket beside a loopback", reachItself, amd64, unix.SYS_SOCKET, [4]uint64{unix.AF_UNIX, unix.SOCK_SEQPACKET}, allow},
		{"MPTCP on a loopback", reachItself, amd64, unix.SYS_SOCKET, [4]uint64{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, refuse},
		{"SCTP on a loopback", reachItself, amd64, unix.SYS_SOCKET, [4]uint64{unix.AF_INET, unix.SOCK_SEQPACKET}, refuse},
		{"raw on a loopback", reachItself, amd64, unix.SYS_SOCKET, [4]uint64{unix.AF_INET, unix.SOCK_RAW | unix.SOCK_CLOEXEC, unix.IPPROTO_UDP}, refuse},
		{"ICMP on a loopback", reachItself, amd64, unix.SYS_SOCKET, [4]uint64{unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP}, refuse},
		{"addresses of a loopback", reachItself, amd64, unix.SYS_SOCKET, [4]uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE}, allow},
		{"netfilter on a loopback", reachItself, amd64, unix.SYS_SOCKET, [4]uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER}, refuse},
		{"vsock on a loopback", reachItself, amd64, unix.SYS_SOCKET, [4]uint64{unix.AF_VSOCK, unix.SOCK_STREAM}, refuse},
		{"packets on a loopback", reachItself, amd64, unix.SYS_SOCKET, [4]uint64{unix.AF_PACKET, unix.SOCK_DGRAM}, refuse},
		{"packets with a network", reachMachine, amd64, unix.SYS_SOCKET, [4]uint64{unix.AF_PACKET, unix.SOCK_RAW}, refuse},
		{"first of the list", reachNothing, amd64, refusedCalls[0], [4]uint64{}, refuse},
		{"last of the list", reachNothing, amd64, refusedCalls[len(refusedCalls)-1], [4]uint64{}, refuse},
		{"clone3", reachNothing, amd64, unix.SYS_CLONE3, [4]uint64{}, missing},
		{"a thread", reachNothing, amd64, unix.SYS_CLONE, [4]uint64{unix.CLONE_VM | unix.CLONE_THREAD | unix.CLONE_SIGHAND}, allow},
		{"a user namespace", reachNothing, amd64, unix.SYS_CLONE, [4]uint64{unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)}, refuse},
		{"unshare of files", reachNothing, amd64, unix.SYS_UNSHARE, [4]uint64{unix.CLONE_FILES}, allow},
		{"unshare of mounts", reachNothing, amd64, unix.SYS_UNSHARE, [4]uint64{unix.CLONE_NEWNS}, refuse},
		{"an ordinary mode", reachNothing, amd64, unix.SYS_CHMOD, [4]uint64{0, 0o755}, allow},
		{"the sticky bit", reachNothing, amd64, unix.SYS_CHMOD, [4]uint64{0, 0o1777}, allow},
		{"set-uid", reachNothing, amd64, unix.SYS_CHMOD, [4]uint64{0, 0o4755}, refuse},
		{"set-gid", reachNothing, amd64, unix.SYS_FCHMOD, [4]uint64{0, 0o2755}, refuse},
		{"set-uid with more bits", reachNothing, amd64, unix.SYS_FCHMODAT, [4]uint64{0, 0, 0o4755 | 1<<40}, refuse},
		{"set-uid by the newest call", reachNothing, amd64, unix.SYS_FCHMODAT2, [4]uint64{0, 0, 0o6755}, refuse},
		{"set-uid of a new file", reachNothing, amd64, unix.SYS_OPENAT, [4]uint64{0, 0, unix.O_CREAT | unix.O_WRONLY, 0o4755}, refuse},
		{"set-uid of a nameless file", reachNothing, amd64, unix.SYS_OPENAT, [4]uint64{0, 0, unix.O_TMPFILE | unix.O_RDWR, 0o4755}, refuse},
		{"a mode that does not count", reachNothing, amd64, unix.SYS_OPENAT, [4]uint64{0, 0, unix.O_RDONLY | unix.O_DIRECTORY, 0o4755}, allow},
		{"a new file", reachNothing, amd64, unix.SYS_OPEN, [4]uint64{0, unix.O_CREAT, 0o644}, allow},
		{"set-uid of a new file by its path", reachNothing, amd64, unix.SYS_OPEN, [4]uint64{0, unix.O_CREAT, 0o4644}, refuse},
		{"set-uid by creat", reachNothing, amd64, unix.SYS_CREAT, [4]uint64{0, 0o4644}, refuse},
		{"set-uid by mknod", reachNothing, amd64, unix.SYS_MKNOD, [4]uint64{0, unix.S_IFREG | 0o4644}, refuse},
		{"a mode that lies in memory", reachNothing, amd64, unix.SYS_OPENAT2, [4]uint64{}, missing},
		{"window size", reachNothing, amd64, unix.SYS_IOCTL, [4]uint64{0, unix.TIOCGWINSZ}, allow},
		{"typing", reachNothing, amd64, unix.SYS_IOCTL, [4]uint64{0, unix.TIOCSTI}, refuse},
		{"typing with more bits", reachNothing, amd64, unix.SYS_IOCTL, [4]uint64{0, unix.TIOCSTI | 1<<32}, refuse},
	} {
		if got := judged(t, &order{Reach: tt.reach}, tt.processor, tt.number, tt.args[:]); got != tt.want {
			t.Errorf("%s: %#x, want %#x", tt.name, got, tt.want)
		}
	}
}

// judged returns the filter's answer to a call.
func judged(t *testing.T, o *order, processor, number uint32, args []uint64) uint32 {
	t.Helper()
	vm, err := bpf.NewVM(filterOf(unix.AUDIT_ARCH_X86_64, o))
	if err != nil {
		t.Fatal(err)
	}
	var call [64]byte
	binary.BigEndian.PutUint32(call[atNumber:], number)
	binary.BigEndian.PutUint32(call[atProcessor:], processor)
	for i, arg := range args {
		binary.BigEndian.PutUint32(call[atArgument+i*argument:], uint32(arg))
	}
	got, err := vm.Run(call[:])
	if err != nil {
		t.Fatal(err)
	}
	return uint32(got)
}

// TestFilterAsks checks that the helper is asked only about permitted calls, because its
// answer overrides a refusal.
func TestFilterAsks(t *testing.T) {
	t.Parallel()
	allow, refuse, ask := permit.Val, refuse.Val, askAbout.Val
	for _, tt := range []struct {
		name   string
		number uint32
		args   []uint64
		want   uint32
	}{
		{"read", unix.SYS_READ, nil, allow},
		{"refused", unix.SYS_PTRACE, nil, refuse},
		{"open to read", unix.SYS_OPENAT, []uint64{0, 0, unix.O_RDONLY | unix.O_CLOEXEC, 0o4755}, allow},
		{"open to write", unix.SYS_OPENAT, []uint64{0, 0, unix.O_WRONLY, 0o4755}, ask},
		{"open to empty", unix.SYS_OPEN, []uint64{0, unix.O_TRUNC}, ask},
		{"make a file", unix.SYS_OPENAT, []uint64{0, 0, unix.O_CREAT | unix.O_RDWR, 0o644}, ask},
		{"make a set-uid file", unix.SYS_OPENAT, []uint64{0, 0, unix.O_CREAT | unix.O_RDWR, 0o4755}, refuse},
		{"make a set-uid file by its path", unix.SYS_OPEN, []uint64{0, unix.O_CREAT, 0o4755}, refuse},
		{"make a folder", unix.SYS_MKDIR, []uint64{0, 0o755}, ask},
		{"make a set-gid folder", unix.SYS_MKDIRAT, []uint64{0, 0, 0o2755}, refuse},
		{"delete", unix.SYS_UNLINKAT, nil, ask},
		{"rename", unix.SYS_RENAME, nil, ask},
		{"chmod", unix.SYS_FCHMODAT, []uint64{0, 0, 0o755}, allow},
		{"set-uid", unix.SYS_FCHMODAT, []uint64{0, 0, 0o4755}, refuse},
		{"connect", unix.SYS_CONNECT, nil, ask},
		{"send on", unix.SYS_SENDTO, []uint64{3, 1, 1, 0, 0, 0}, allow},
		{"send to an address", unix.SYS_SENDTO, []uint64{3, 1, 1, 0, 1, 16}, ask},
	} {
		if got := judged(t, &order{Reach: reachItself, Observe: true}, unix.AUDIT_ARCH_X86_64, tt.number, tt.args); got != tt.want {
			t.Errorf("%s: %#x, want %#x", tt.name, got, tt.want)
		}
	}
	if got := judged(t, &order{Reach: reachMachine, Observe: true}, unix.AUDIT_ARCH_X86_64, unix.SYS_CONNECT, nil); got != allow {
		t.Errorf("connect with a network: %#x", got)
	}
}
