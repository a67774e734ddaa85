package sandbox

import (
	"encoding/binary"
	"errors"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
)

// A boundFile is the file to which a socket was bound, as the kernel identifies it (by
// the lower half of the inode number).
type boundFile struct{ device, number uint32 }

// The netlink message that queries unix sockets (sock_diag(7)).
const (
	diagByFamily = 20
	diagShowFile = 1 << 1 // UDIAG_SHOW_VFS
	diagFile     = 1      // UNIX_DIAG_VFS
	diagAnswer   = 16     // bytes before the attributes
)

// boundFiles asks the kernel for the file of each bound unix socket, by the socket's
// number.
func boundFiles() (map[string]boundFile, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, err
	}
	defer closeFD(fd)
	if err := unix.Sendto(fd, diagQuestion(), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, err
	}
	found := map[string]boundFile{}
	buf := make([]byte, 1<<16)
	for {
		n, _, err := unix.Recvfrom(fd, buf, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if more, err := addFiles(found, buf[:n]); err != nil || !more {
			return found, err
		}
	}
}

// diagQuestion queries all unix sockets, in any state.
func diagQuestion() []byte {
	ask := make([]byte, unix.SizeofNlMsghdr+24)
	binary.NativeEndian.PutUint32(ask, uint32(len(ask)))
	binary.NativeEndian.PutUint16(ask[4:], diagByFamily)
	binary.NativeEndian.PutUint16(ask[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	about := ask[unix.SizeofNlMsghdr:]
	about[0] = unix.AF_UNIX
	binary.NativeEndian.PutUint32(about[4:], ^uint32(0))
	binary.NativeEndian.PutUint32(about[12:], diagShowFile)
	return ask
}

// addFiles reads answers. more means that others follow.
func addFiles(found map[string]boundFile, answers []byte) (more bool, err error) {
	messages, err := syscall.ParseNetlinkMessage(answers)
	if err != nil {
		return false, err
	}
	for _, m := range messages {
		switch {
		case m.Header.Type == unix.NLMSG_DONE:
			return false, nil
		case m.Header.Type == unix.NLMSG_ERROR:
			return false, umpire.Errorf("ask about unix sockets: %w", unix.ENOTSUP)
		case len(m.Data) >= diagAnswer:
			if file, bound := fileIn(m.Data[diagAnswer:]); bound {
				found[strconv.FormatUint(uint64(binary.NativeEndian.Uint32(m.Data[4:])), 10)] = file
			}
		}
	}
	return true, nil
}

// fileIn finds the file in the attributes of an answer.
func fileIn(attributes []byte) (boundFile, bool) {
	order := binary.NativeEndian
	for len(attributes) >= unix.SizeofRtAttr {
		size := int(order.Uint16(attributes))
		if size < unix.SizeofRtAttr || size > len(attributes) {
			return boundFile{}, false
		}
		if order.Uint16(attributes[2:]) == diagFile && size >= unix.SizeofRtAttr+8 {
			return boundFile{number: order.Uint32(attributes[4:]), device: order.Uint32(attributes[8:])}, true
		}
		attributes = attributes[min((size+3)&^3, len(attributes)):]
	}
	return boundFile{}, false
}

// fileAt returns the socket file at a path without following links.
func fileAt(path string) (boundFile, bool) {
	var info unix.Stat_t
	if unix.Lstat(path, &info) != nil || info.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return boundFile{}, false
	}
	return boundFile{device: unix.Major(info.Dev)<<20 | unix.Minor(info.Dev), number: uint32(info.Ino)}, true
}
