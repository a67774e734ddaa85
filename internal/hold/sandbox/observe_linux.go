package sandbox

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strconv"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire/internal/hold/egress"
)

// This file is the part of the helper that the kernel asks before it performs some system
// calls (seccomp_unotify(2)). It allows nothing that the other layers refuse: it records
// the addresses to which a command connects, and moves folders that an overlay cannot
// move (move_linux.go). All other calls continue as usual.

// A notice is a waiting system call, and a reply tells how to continue it (struct
// seccomp_notif and seccomp_notif_resp).
type notice struct {
	id        uint64
	thread    uint32
	_         uint32
	number    uint32
	processor uint32
	_         uint64
	arguments [6]uint64
}

type reply struct {
	id     uint64
	result int64
	errno  int32
	flags  uint32
}

// An observer answers for one sandbox. Its thread has no more rights than the command.
type observer struct {
	*journal

	homes    []realFolder
	listener int
}

// The limits of reports. All reports must fit in the pipe, which is read only after the
// command has ended.
const (
	maxReports = 64
	maxPath    = 600 // bytes of one path
)

var askAbout = bpf.RetConstant{Val: unix.SECCOMP_RET_USER_NOTIF}

// moveCalls are the renaming system calls.
var moveCalls = append([]uint32{unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2}, oldMoveCalls...)

// observed lists the calls to ask about, besides calls with a mode. A call that sends
// without an address uses an earlier connection.
func (o *order) observed() []bpf.Instruction {
	var program []bpf.Instruction
	for _, number := range slices.Concat(moveCalls, deleteCalls) {
		program = append(program, onCall(number, askAbout)...)
	}
	if o.Reach == reachItself {
		program = append(program, onCall(unix.SYS_CONNECT, askAbout)...)
		program = append(program, onCall(unix.SYS_SENDTO,
			loadArgument(4), bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: 1}, askAbout, permit)...)
	}
	return program
}

// startObserver starts the answering thread, which begins when it receives a listener.
func (h *helper) startObserver() error {
	if !h.Observe {
		return nil
	}
	h.listeners = make(chan int)
	ready := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked, because the thread has given up its rights
		kept := uint32(0)
		if h.Exit {
			kept = 1 << unix.CAP_NET_BIND_SERVICE // to listen on the ports of names
		}
		ready <- h.keepCapabilities(kept)
		if fd, open := <-h.listeners; open {
			(&observer{h.journal, h.homes, fd}).answerAll()
		}
	}()
	return <-ready
}

// answerAll answers until the sandbox ends.
func (w *observer) answerAll() {
	// The caller waits, so the answer may run on the same processor. Older kernels do not
	// support this and are slower.
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(w.listener), unix.SECCOMP_IOCTL_NOTIF_SET_FLAGS,
		unix.SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP)
	for {
		var n notice
		err := control(w.listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n))
		switch {
		case err == nil:
			r := w.answer(&n)
			// The caller may have been killed meanwhile.
			_ = control(w.listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r))
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.ENOENT):
		default:
			w.tell(report{Blind: true})
			closeFD(w.listener) // waiting and later calls fail
			return
		}
	}
}

func control(fd int, request uint, with unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(request), uintptr(with)); errno != 0 {
		return errno
	}
	return nil
}

func (w *observer) answer(n *notice) reply {
	goOn := reply{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	switch n.number {
	case unix.SYS_CONNECT:
		w.noteAddress(n, n.arguments[1], n.arguments[2], w.doors)
	case unix.SYS_SENDTO: // no stream leads out of a message to an address
		w.noteAddress(n, n.arguments[4], n.arguments[5], nil)
	default:
		if w.noteWrite(n) {
			return goOn
		}
		if moved, err := w.move(n); moved {
			return reply{id: n.id, errno: -int32(errnoOf(err))}
		}
	}
	return goOn
}

func errnoOf(err error) unix.Errno {
	if err == nil {
		return 0
	}
	if errno, ok := errors.AsType[unix.Errno](err); ok {
		return errno
	}
	return unix.EIO
}

// noteAddress leads a connection to an address out through doors. It reports an address that the command cannot reach.
func (w *observer) noteAddress(n *notice, at, size uint64, doors *egress.Doors) {
	raw := make([]byte, min(size, unix.SizeofSockaddrInet6))
	if err := readMemory(n.thread, at, raw); err != nil {
		return
	}
	to, is := addressIn(raw)
	if !is || to.Port() == 0 || to.Addr().IsLoopback() || to.Addr().IsUnspecified() {
		return // port 0 is only a question about routes
	}
	name, given := w.nameOf(to.Addr())
	if !given {
		name = to.Addr().String()
	}
	if doors == nil || doors.Listen(to, name) != nil {
		w.tell(report{Address: net.JoinHostPort(name, strconv.Itoa(int(to.Port())))})
	}
}

// addressIn decodes an internet address and its port.
func addressIn(raw []byte) (netip.AddrPort, bool) {
	if len(raw) < unix.SizeofSockaddrInet4 {
		return netip.AddrPort{}, false
	}
	port := binary.BigEndian.Uint16(raw[2:])
	switch family := binary.NativeEndian.Uint16(raw); {
	case family == unix.AF_INET:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(raw[4:8])), port), true
	case family == unix.AF_INET6 && len(raw) >= 24:
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(raw[8:24])).Unmap(), port), true
	}
	return netip.AddrPort{}, false
}

// readMemory fills a buffer from another process.
func readMemory(thread uint32, at uint64, into []byte) error {
	if len(into) == 0 {
		return unix.EINVAL
	}
	local := []unix.Iovec{{Base: &into[0]}}
	local[0].SetLen(len(into))
	n, err := unix.ProcessVMReadv(
		int(thread), local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(into)}}, 0,
	)
	if err == nil && n < len(into) {
		err = unix.EFAULT
	}
	return err
}

// readText reads a zero-terminated text up to the maximum length of a path.
func readText(thread uint32, at uint64) (string, error) {
	var text []byte
	page := os.Getpagesize()
	for len(text) < unix.PathMax {
		part := make([]byte, page-int(at%uint64(page))) // the next page may not exist
		if err := readMemory(thread, at, part); err != nil {
			return "", err
		}
		if end := slices.Index(part, 0); end >= 0 {
			return string(append(text, part[:end]...)), nil
		}
		text, at = append(text, part...), at+uint64(len(part))
	}
	return "", unix.ENAMETOOLONG
}
