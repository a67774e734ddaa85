package sandbox

import (
	"errors"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
)

// This file defines the system call filter. It lists refused calls, because a list of
// allowed ones would break programs one by one. It refuses ways around the other layers:
// other kinds of sockets, new namespaces, other processes, and parts of the kernel that
// builds and tests do not need.

// processors are the architectures with known system calls. A call with another architecture's
// numbers, such as a 32-bit program's, is always refused because its meaning is unknown.
var processors = map[string]uint32{
	"amd64": unix.AUDIT_ARCH_X86_64,
	"arm64": unix.AUDIT_ARCH_AARCH64,
}

// x32 marks the calls of a third numbering on amd64.
const x32 = 0x40000000

// Offsets in the filter's input. The lower half of an argument is enough, because the
// kernel uses only 32 bits of the compared arguments.
const (
	atNumber    = 0
	atProcessor = 4
	atArgument  = 16
	argument    = 8
)

// refusedCalls fail as if the caller lacked the permission.
var refusedCalls = []uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_SETNS,
	unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
	unix.SYS_MOUNT_SETATTR,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_LOOKUP_DCOOKIE,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SYSLOG,
	unix.SYS_VHANGUP,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME,
}

// newNamespaces are the flags of clone and unshare that create namespaces.
const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER |
	unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWCGROUP | unix.CLONE_NEWTIME

// setID are the mode bits that give a program its owner's rights, or a folder's group to
// its new files. No build needs them. They are refused for folders too, because a filter
// cannot tell what a path refers to.
const setID = unix.S_ISUID | unix.S_ISGID

// A modeCall is a system call with a mode. If makes is set, the mode counts only if a
// flag says that the call may create a file.
type modeCall struct {
	number uint32
	mode   uint32 // argument index
	flags  uint32 // argument index, if makes is not 0
	makes  uint32
}

// modeCalls exist on every processor; oldModeCalls only on some.
var modeCalls = append([]modeCall{
	{number: unix.SYS_FCHMOD, mode: 1}, {number: unix.SYS_FCHMODAT, mode: 2}, {number: unix.SYS_FCHMODAT2, mode: 2},
	{number: unix.SYS_MKNODAT, mode: 2}, {number: unix.SYS_MKDIRAT, mode: 2},
	{number: unix.SYS_OPENAT, mode: 3, flags: 2, makes: unix.O_CREAT | tmpfile},
}, oldModeCalls...)

// tmpfile is the part of O_TMPFILE besides O_DIRECTORY.
const tmpfile = unix.O_TMPFILE &^ unix.O_DIRECTORY

// judge refuses the call if its mode has a setID bit. Otherwise it continues with otherwise.
func (c *modeCall) judge(otherwise []bpf.Instruction) []bpf.Instruction {
	program := []bpf.Instruction{
		loadArgument(c.mode), bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: setID, SkipTrue: 1}, refuse,
	}
	if c.makes != 0 {
		makes := []bpf.Instruction{
			loadArgument(c.flags),
			bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: c.makes, SkipTrue: uint8(len(program))},
		}
		program = append(makes, program...)
	}
	return append(program, otherwise...)
}

// terminalInputs insert characters into a terminal as if they were typed.
var terminalInputs = []uint32{unix.TIOCSTI, unix.TIOCLINUX}

// The allowed kinds of sockets without and with the machine's network. Programs list the
// machine's addresses through a netlink socket.
var (
	localSockets   = []uint32{unix.AF_UNIX}
	networkSockets = []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}
)

// The socket types and protocols that a server and its client need on a loopback. More
// protocols would only expose more of the kernel.
var (
	plainTypes     = []uint32{unix.SOCK_STREAM, unix.SOCK_DGRAM}
	plainProtocols = []uint32{0, unix.IPPROTO_TCP, unix.IPPROTO_UDP}
)

// socketType masks the flags in a socket's type.
const socketType = 0xf

// The results of the filter.
var (
	permit  = bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	refuse  = bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)}
	missing = bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)}
)

const word = 4

func loadWord(offset uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: offset, Size: word} }

func loadArgument(n uint32) bpf.Instruction { return loadWord(atArgument + n*argument) }

// filterOf returns the filter's program.
func filterOf(processor uint32, o *order) []bpf.Instruction {
	program := []bpf.Instruction{
		loadWord(atProcessor), bpf.JumpIf{Cond: bpf.JumpEqual, Val: processor, SkipTrue: 1}, missing,
		loadWord(atNumber),
	}
	if processor == unix.AUDIT_ARCH_X86_64 {
		program = append(program, bpf.JumpIf{Cond: bpf.JumpLessThan, Val: x32, SkipTrue: 1}, missing)
	}
	for _, number := range refusedCalls {
		program = append(program, onCall(number, refuse)...)
	}
	// The arguments of clone3 are in memory, which a filter cannot read. Without it
	// programs use clone.
	program = append(program, onCall(unix.SYS_CLONE3, missing)...)
	program = append(program, onCall(unix.SYS_CLONE, refuseBits(newNamespaces)...)...)
	program = append(program, onCall(unix.SYS_UNSHARE, refuseBits(newNamespaces)...)...)
	for _, call := range modeCalls {
		program = append(program, onCall(call.number, call.judge(o.observedCall(&call))...)...)
	}
	// The arguments of openat2 are in memory as well. Without it programs use openat.
	program = append(program, onCall(unix.SYS_OPENAT2, missing)...)
	program = append(program, onCall(unix.SYS_IOCTL, answerAmong(1, terminalInputs, refuse, permit)...)...)
	program = append(program, onCall(unix.SYS_SOCKET, o.sockets()...)...)
	program = append(program, onCall(unix.SYS_SOCKETPAIR, answerAmong(0, localSockets, permit, refuse)...)...)
	if o.Observe {
		program = append(program, o.observed()...)
	}
	return append(program, permit)
}

// sockets returns the part of the filter that judges new sockets.
func (o *order) sockets() []bpf.Instruction {
	kinds := localSockets
	var program []bpf.Instruction
	switch o.Reach {
	case reachNothing:
	case reachItself:
		program = onLoopback()
	case reachMachine:
		kinds = networkSockets
	}
	if o.NoSockets {
		kinds = slices.DeleteFunc(slices.Clone(kinds), func(kind uint32) bool { return kind == unix.AF_UNIX })
	}
	return append(program, answerAmong(0, kinds, permit, refuse)...)
}

// onLoopback judges the sockets that are useful on a private loopback.
func onLoopback() []bpf.Instruction {
	return slices.Concat(
		onFamily(unix.AF_INET, plainInternet()...),
		onFamily(unix.AF_INET6, plainInternet()...),
		onFamily(unix.AF_NETLINK, answerAmong(2, []uint32{unix.NETLINK_ROUTE}, permit, refuse)...),
	)
}

// onFamily runs do for sockets of one family. do must end in a result.
func onFamily(family uint32, do ...bpf.Instruction) []bpf.Instruction {
	return append([]bpf.Instruction{loadArgument(0)}, onCall(family, do...)...)
}

// plainInternet allows TCP and UDP.
func plainInternet() []bpf.Instruction {
	program := []bpf.Instruction{loadArgument(1), bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: socketType}}
	for i, kind := range plainTypes {
		program = append(program, bpf.JumpIf{Cond: bpf.JumpEqual, Val: kind, SkipTrue: uint8(len(plainTypes) - i)})
	}
	program = append(program, refuse)
	return append(program, answerAmong(2, plainProtocols, permit, refuse)...)
}

// onCall runs do if the loaded value, usually the call's number, is equal to number, and
// skips it otherwise. do must end in a result.
func onCall(number uint32, do ...bpf.Instruction) []bpf.Instruction {
	return append([]bpf.Instruction{bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: number, SkipTrue: uint8(len(do))}}, do...)
}

// refuseBits refuses a call whose first argument has one of the bits.
func refuseBits(bits uint32) []bpf.Instruction {
	return []bpf.Instruction{
		loadArgument(0), bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: bits, SkipTrue: 1}, refuse, permit,
	}
}

// answerAmong ends in is if an argument has one of the values, and in isNot otherwise.
func answerAmong(n uint32, values []uint32, is, isNot bpf.RetConstant) []bpf.Instruction {
	program := []bpf.Instruction{loadArgument(n)}
	for _, value := range values {
		program = append(program, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: value, SkipTrue: 1}, is)
	}
	return append(program, isNot)
}

// filter installs the filter on this thread and its children.
func (h *helper) filter() error {
	processor, known := processors[runtime.GOARCH]
	if !known {
		return umpire.Errorf("the system calls of %s are unknown", runtime.GOARCH)
	}
	err := h.install(processor)
	if h.Observe && errors.Is(err, unix.EBUSY) {
		// The surrounding container already has a listener, and only one is possible.
		close(h.listeners)
		h.Observe, h.listeners = false, nil
		h.blind = true
		err = h.install(processor)
	}
	return err
}

// install installs the filter, and hands its listener to the observer, if any.
func (h *helper) install(processor uint32) error {
	raw, err := bpf.Assemble(filterOf(processor, &h.order))
	if err != nil {
		return err
	}
	program := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		program[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	set := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	flags := uintptr(0)
	if h.Observe {
		flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	}
	fd, _, errno := unix.Syscall(
		unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&set)),
	)
	if errno != 0 {
		return errno
	}
	if h.Observe {
		h.listeners <- int(fd)
	}
	return nil
}

// checkFilter tries refused calls from the whole filter: an installed filter without
// effect would be worse than no filter.
func (h *helper) checkFilter() error {
	tries := []struct {
		name   string
		number uintptr
		first  uintptr
		want   unix.Errno
	}{
		{"ptrace", unix.SYS_PTRACE, unix.PTRACE_TRACEME, unix.EPERM},
		{"clock_adjtime", unix.SYS_CLOCK_ADJTIME, 0, unix.EPERM},
		{"clone3", unix.SYS_CLONE3, 0, unix.ENOSYS},
		{"unshare", unix.SYS_UNSHARE, unix.CLONE_NEWNET, unix.EPERM},
		{"openat2", unix.SYS_OPENAT2, 0, unix.ENOSYS},
		{"socket", unix.SYS_SOCKET, unix.AF_VSOCK, unix.EPERM},
	}
	for _, try := range tries {
		if _, _, errno := unix.RawSyscall(try.number, try.first, 0, 0); errno != try.want {
			return umpire.Errorf("%s: want %q, got %w", try.name, try.want.Error(), errno)
		}
	}
	return nil
}
