package sandbox

import (
	"encoding/json"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/egress"
)

// This file is a name server for an observed command without a network. It knows no
// names: it gives each one an unroutable address and remembers it. The report can then
// say that a command wanted registry.example:443 instead of port 53 of a name server.

// nameServer is its address on the command's private loopback.
var nameServer = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 53)

// settingsOfNames is the file that lists name servers.
const settingsOfNames = "/etc/resolv.conf"

// fictional is the first of the assigned addresses. They are reserved for device tests,
// so no machine has them (RFC 2544).
var fictional = netip.AddrFrom4([4]byte{198, 18, 0, 1})

// A journal reports each observation once. It is safe for concurrent use.
type journal struct {
	file *os.File

	mu    sync.Mutex
	lines map[string]bool // already written
	names map[netip.Addr]string
	next  netip.Addr
	doors *egress.Doors // of the way out, or nil
}

func newJournal(file *os.File) *journal {
	return &journal{file: file, lines: map[string]bool{}, names: map[netip.Addr]string{}, next: fictional}
}

// tell reports an observation unless it was reported before. All reports must fit in the
// pipe, which is read only after the command has ended.
func (j *journal) tell(r report) {
	j.mu.Lock()
	defer j.mu.Unlock()
	line, err := json.Marshal(r)
	if err != nil || j.lines[string(line)] || len(j.lines) >= maxReports {
		return
	}
	j.lines[string(line)] = true
	_, _ = j.file.Write(append(line, '\n')) // the reader may have gone
}

// addressOf returns the address assigned to a name.
func (j *journal) addressOf(name string) (netip.Addr, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for address, is := range j.names {
		if is == name {
			return address, true
		}
	}
	if len(j.names) >= maxReports {
		return netip.Addr{}, false
	}
	address := j.next
	if j.doors != nil && j.doors.Name(address, name) != nil {
		return netip.Addr{}, false // the outside would not know the name
	}
	j.names[address], j.next = name, address.Next()
	return address, true
}

// nameOf returns the name to which an address was assigned.
func (j *journal) nameOf(address netip.Addr) (string, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	name, given := j.names[address]
	return name, given
}

// openExit leads connections out.
func (h *helper) openExit() (err error) {
	if h.Exit {
		h.journal.doors, err = egress.OpenDoors(exitFile)
	}
	return err
}

// replaceTexts shows the command other texts in files of the system.
func (h *helper) replaceTexts() error {
	for path, text := range h.Texts {
		plain, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue // its program is not installed
		}
		if err := coverFile(plain, text); err != nil {
			return umpire.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// serveNames starts the name server and makes programs use it. If the port is taken,
// programs ask their usual server, and only that is reported.
func (h *helper) serveNames() error {
	if !h.Observe || h.Reach != reachItself {
		return nil
	}
	plain, err := filepath.EvalSymlinks(settingsOfNames)
	if err != nil {
		return nil //nolint:nilerr // programs do not use name servers without the file
	}
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	at := unix.SockaddrInet4{Port: int(nameServer.Port()), Addr: nameServer.Addr().As4()}
	if err := unix.Bind(socket, &at); err != nil {
		closeFD(socket)
		return nil //nolint:nilerr // see above
	}
	if err := coverFile(plain, "nameserver "+nameServer.Addr().String()+"\n"); err != nil {
		return err
	}
	ready := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked, because the thread has given up its rights
		ready <- h.dropCapabilities()
		h.journal.answerNames(socket)
	}()
	return <-ready
}

// maxQuestion is the maximum size of a UDP question in bytes.
const maxQuestion = 1232

// answerNames answers until the sandbox ends.
func (j *journal) answerNames(socket int) {
	buf := make([]byte, maxQuestion)
	for {
		n, from, err := unix.Recvfrom(socket, buf, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return
		}
		if answer, err := j.answerName(buf[:n]); err == nil {
			_ = unix.Sendto(socket, answer, 0, from) // the client may have gone
		}
	}
}

// answerName answers one question. A name has one IPv4 address and nothing else.
func (j *journal) answerName(question []byte) ([]byte, error) {
	var p dnsmessage.Parser
	head, err := p.Start(question)
	if err != nil {
		return nil, err
	}
	q, err := p.Question()
	if err != nil {
		return nil, err
	}
	answer := dnsmessage.Message{
		Header: dnsmessage.Header{
			ID: head.ID, Response: true, RecursionDesired: head.RecursionDesired, RecursionAvailable: true,
		},
		Questions: []dnsmessage.Question{q},
	}
	if name, whole := plainName(q.Name); whole && (q.Type == dnsmessage.TypeA || q.Type == dnsmessage.TypeAAAA) {
		if j.doors == nil { // the exit knows more
			j.tell(report{Address: name})
		}
		if address, given := j.addressOf(name); given && q.Type == dnsmessage.TypeA {
			answer.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class},
				Body:   &dnsmessage.AResource{A: address.As4()},
			}}
		}
	}
	return answer.Pack()
}

// plainName returns a name without its final dot. It accepts only valid host names,
// because the name is shown to a person.
func plainName(n dnsmessage.Name) (string, bool) {
	name := n.String()
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '.' && c != '_' {
			return "", false
		}
	}
	if len(name) < 2 || name[len(name)-1] != '.' {
		return "", false
	}
	return name[:len(name)-1], true
}
