package server

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/umpirehq/umpire"
)

// A tcpSocket is the far end of a connection on this machine.
type tcpSocket struct {
	uid   int
	inode string
}

// tcpOriginOf finds the processes on this machine that hold the far end of a TCP
// connection, and inspects all of them, because each can use a shared socket. pid is one
// of them.
func tcpOriginOf(far, near netip.AddrPort) (o origin, uid, pid int, err error) {
	socket, err := findTCPSocket(far, near)
	if err != nil {
		return origin{}, -1, -1, err
	}
	if socket.uid != os.Getuid() {
		return origin{objection: "the process belongs to another user"}, socket.uid, -1, nil
	}
	holders, err := findHolders("socket:[" + socket.inode + "]")
	if err != nil || len(holders) == 0 {
		return origin{objection: "no process found that holds the connection"}, socket.uid, -1, err
	}
	for _, holder := range holders {
		theirs, err := look(holder)
		if err != nil {
			return origin{}, socket.uid, holder, err
		}
		if o.objection == "" {
			o.objection = theirs.objection
		}
		o.itself, o.lineage = append(o.itself, theirs.itself...), append(o.lineage, theirs.lineage...)
		o.elsewhere = o.elsewhere || theirs.elsewhere
	}
	return o, socket.uid, holders[0], nil
}

// findTCPSocket finds the socket with local address far and remote address near.
func findTCPSocket(far, near netip.AddrPort) (tcpSocket, error) {
	for _, table := range []string{"/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"} {
		text, err := os.ReadFile(table)
		if err != nil {
			continue // a kernel without IPv6 lacks the second table
		}
		for line := range strings.Lines(string(text)) {
			const localField, remoteField, uidField, inodeField = 1, 2, 7, 9
			fields := strings.Fields(line)
			if len(fields) <= inodeField || parseProcAddr(fields[localField]) != far ||
				parseProcAddr(fields[remoteField]) != near {
				continue
			}
			uid, err := strconv.Atoi(fields[uidField])
			if err != nil {
				return tcpSocket{}, umpire.Errorf("%s: %w", table, err)
			}
			return tcpSocket{uid: uid, inode: fields[inodeField]}, nil
		}
	}
	return tcpSocket{}, umpire.Errorf("the kernel does not list the connection from %s", far)
}

// parseProcAddr parses "0100007F:1F90": words of the address in the machine's byte order,
// and the port. An invalid address is the zero AddrPort.
func parseProcAddr(text string) netip.AddrPort {
	address, portText, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(address)
	port, portErr := strconv.ParseUint(portText, 16, 16)
	if err != nil || portErr != nil || len(raw)%4 != 0 {
		return netip.AddrPort{}
	}
	for i := 0; i < len(raw); i += 4 {
		binary.NativeEndian.PutUint32(raw[i:], binary.BigEndian.Uint32(raw[i:]))
	}
	ip, ok := netip.AddrFromSlice(raw)
	if !ok {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(ip.Unmap(), uint16(port))
}

// findHolders returns the processes that have a file open, according to their descriptors
// in /proc. It does not see processes of other users.
func findHolders(target string) ([]int, error) {
	links, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return nil, err
	}
	var holders []int
	for _, link := range links {
		if found, err := os.Readlink(link); err != nil || found != target {
			continue // another file, or closed by now
		}
		pid, err := strconv.Atoi(strings.Split(link, "/")[2])
		if err != nil {
			return nil, err
		}
		if len(holders) == 0 || holders[len(holders)-1] != pid {
			holders = append(holders, pid)
		}
	}
	return holders, nil
}
