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
		network   bool
		processor uint32
		number    uint32
		args      [2]uint64
		want      uint32
	}{
		{"read", false, amd64, unix.SYS_READ, [2]uint64{}, allow},
		{"of a 32-bit program", false, i386, 102, [2]uint64{1}, missing},
		{"of x32", false, amd64, unix.SYS_SOCKET | x32, [2]uint64{unix.AF_INET}, missing},
		{"unix socket", false, amd64, unix.SYS_SOCKET, [2]uint64{unix.AF_UNIX}, allow},
		{"internet socket", false, amd64, unix.SYS_SOCKET, [2]uint64{unix.AF_INET}, refuse},
		{"internet socket with more bits", false, amd64, unix.SYS_SOCKET, [2]uint64{unix.AF_INET | 1<<40}, refuse},
		{"internet socket with a network", true, amd64, unix.SYS_SOCKET, [2]uint64{unix.AF_INET6}, allow},
		{"vsock with a network", true, amd64, unix.SYS_SOCKET, [2]uint64{unix.AF_VSOCK}, refuse},
		{"first of the list", false, amd64, refusedCalls[0], [2]uint64{}, refuse},
		{"last of the list", false, amd64, refusedCalls[len(refusedCalls)-1], [2]uint64{}, refuse},
		{"clone3", false, amd64, unix.SYS_CLONE3, [2]uint64{}, missing},
		{"a thread", false, amd64, unix.SYS_CLONE, [2]uint64{unix.CLONE_VM | unix.CLONE_THREAD | unix.CLONE_SIGHAND}, allow},
		{"a user namespace", false, amd64, unix.SYS_CLONE, [2]uint64{unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)}, refuse},
		{"unshare of files", false, amd64, unix.SYS_UNSHARE, [2]uint64{unix.CLONE_FILES}, allow},
		{"unshare of mounts", false, amd64, unix.SYS_UNSHARE, [2]uint64{unix.CLONE_NEWNS}, refuse},
		{"window size", false, amd64, unix.SYS_IOCTL, [2]uint64{0, unix.TIOCGWINSZ}, allow},
		{"typing", false, amd64, unix.SYS_IOCTL, [2]uint64{0, unix.TIOCSTI}, refuse},
		{"typing with more bits", false, amd64, unix.SYS_IOCTL, [2]uint64{0, unix.TIOCSTI | 1<<32}, refuse},
	} {
		vm, err := bpf.NewVM(filterOf(unix.AUDIT_ARCH_X86_64, (&order{Network: tt.network}).kinds()))
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
