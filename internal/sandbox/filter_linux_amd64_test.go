package sandbox

import (
	"encoding/binary"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// TestFilter runs the filter as the kernel does, over calls of other processors too,
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
		args      [3]uint64
		want      uint32
	}{
		{"read", reachNothing, amd64, unix.SYS_READ, [3]uint64{}, allow},
		{"of a 32-bit program", reachNothing, i386, 102, [3]uint64{1}, missing},
		{"of x32", reachNothing, amd64, unix.SYS_SOCKET | x32, [3]uint64{unix.AF_INET}, missing},
		{"unix socket", reachNothing, amd64, unix.SYS_SOCKET, [3]uint64{unix.AF_UNIX}, allow},
		{"internet socket", reachNothing, amd64, unix.SYS_SOCKET, [3]uint64{unix.AF_INET}, refuse},
		{"internet socket with more bits", reachNothing, amd64, unix.SYS_SOCKET, [3]uint64{unix.AF_INET | 1<<40}, refuse},
		{"internet socket with a network", reachMachine, amd64, unix.SYS_SOCKET, [3]uint64{unix.AF_INET6}, allow},
		{"vsock with a network", reachMachine, amd64, unix.SYS_SOCKET, [3]uint64{unix.AF_VSOCK}, refuse},
		{"TCP on a loopback", reachItself, amd64, unix.SYS_SOCKET, [3]uint64{unix.AF_INET, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, allow},
		{"TCP by its number", reachItself, amd64, unix.SYS_SOCKET, [3]uint64{unix.AF_INET6, unix.SOCK_STREAM, unix.IPPROTO_TCP}, allow},
		{"UDP on a loopback", reachItself, amd64, unix.SYS_SOCKET, [3]uint64{unix.AF_INET6, unix.SOCK_DGRAM | unix.SOCK_NONBLOCK, unix.IPPROTO_UDP}, allow},
		{"unix socket beside a loopback", reachItself, amd64, unix.SYS_SOCKET, [3]uint64{unix.AF_UNIX, unix.SOCK_SEQPACKET}, allow},
		{"MPTCP on a loopback", reachItself, amd64, unix.SYS_SOCKET, [3]uint64{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, refuse},
		{"SCTP on a loopback", reachItself, amd64, unix.SYS_SOCKET, [3]uint64{unix.AF_INET, unix.SOCK_SEQPACKET}, refuse},
		{"raw on a loopback", reachItself, amd64, unix.SYS_SOCKET, [3]uint64{unix.AF_INET, unix.SOCK_RAW | unix.SOCK_CLOEXEC, unix.IPPROTO_UDP}, refuse},
		{"ICMP on a loopback", reachItself, amd64, unix.SYS_SOCKET, [3]uint64{unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP}, refuse},
		{"addresses of a loopback", reachItself, amd64, unix.SYS_SOCKET, [3]uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE}, allow},
		{"netfilter on a loopback", reachItself, amd64, unix.SYS_SOCKET, [3]uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER}, refuse},
		{"vsock on a loopback", reachItself, amd64, unix.SYS_SOCKET, [3]uint64{unix.AF_VSOCK, unix.SOCK_STREAM}, refuse},
		{"packets on a loopback", reachItself, amd64, unix.SYS_SOCKET, [3]uint64{unix.AF_PACKET, unix.SOCK_DGRAM}, refuse},
		{"packets with a network", reachMachine, amd64, unix.SYS_SOCKET, [3]uint64{unix.AF_PACKET, unix.SOCK_RAW}, refuse},
		{"first of the list", reachNothing, amd64, refusedCalls[0], [3]uint64{}, refuse},
		{"last of the list", reachNothing, amd64, refusedCalls[len(refusedCalls)-1], [3]uint64{}, refuse},
		{"clone3", reachNothing, amd64, unix.SYS_CLONE3, [3]uint64{}, missing},
		{"a thread", reachNothing, amd64, unix.SYS_CLONE, [3]uint64{unix.CLONE_VM | unix.CLONE_THREAD | unix.CLONE_SIGHAND}, allow},
		{"a user namespace", reachNothing, amd64, unix.SYS_CLONE, [3]uint64{unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)}, refuse},
		{"unshare of files", reachNothing, amd64, unix.SYS_UNSHARE, [3]uint64{unix.CLONE_FILES}, allow},
		{"unshare of mounts", reachNothing, amd64, unix.SYS_UNSHARE, [3]uint64{unix.CLONE_NEWNS}, refuse},
		{"window size", reachNothing, amd64, unix.SYS_IOCTL, [3]uint64{0, unix.TIOCGWINSZ}, allow},
		{"typing", reachNothing, amd64, unix.SYS_IOCTL, [3]uint64{0, unix.TIOCSTI}, refuse},
		{"typing with more bits", reachNothing, amd64, unix.SYS_IOCTL, [3]uint64{0, unix.TIOCSTI | 1<<32}, refuse},
	} {
		vm, err := bpf.NewVM(filterOf(unix.AUDIT_ARCH_X86_64, &order{Reach: tt.reach}))
		if err != nil {
			t.Fatal(err)
		}
		var call [64]byte
		binary.BigEndian.PutUint32(call[atNumber:], tt.number)
		binary.BigEndian.PutUint32(call[atProcessor:], tt.processor)
		for i, arg := range tt.args {
			binary.BigEndian.PutUint32(call[atArgument+i*argument:], uint32(arg))
		}
		got, err := vm.Run(call[:])
		if err != nil || uint32(got) != tt.want {
			t.Errorf("%s: %#x, %v, want %#x", tt.name, got, err, tt.want)
		}
	}
}
