package server

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/process"
)

// tellsPeers means that this system identifies clients.
const tellsPeers = true

// maxLineage limits the walk from a process to its ancestors.
const maxLineage = 128

// credentialsOf returns the client's user and process.
func credentialsOf(c *net.UnixConn) (uid, pid int, err error) {
	err = control(c, func(fd int) error {
		cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err == nil {
			uid, pid = int(cred.Uid), int(cred.Pid)
		}
		return err
	})
	return uid, pid, err
}

func control(c *net.UnixConn, f func(fd int) error) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}

// originOf inspects the client's process. Another process may have its id by now; the
// kernel's handle for the connection detects that.
func originOf(c *net.UnixConn, pid int) (origin, error) {
	if pid <= 0 {
		return origin{objection: "the process is in another pid namespace", elsewhere: true}, nil
	}
	handle, err := handleOf(c)
	if err != nil {
		return origin{}, err
	}
	if handle >= 0 {
		defer unix.Close(handle) //nolint:errcheck // it was only read
	}
	o, err := look(pid)
	if err != nil {
		return origin{}, err
	}
	if handle >= 0 {
		if err := unix.PidfdSendSignal(handle, 0, nil, 0); err != nil {
			return origin{}, umpire.Errorf("process %d, which connected, is gone", pid)
		}
	}
	return o, nil
}

// handleOf returns a descriptor of the client's process, or -1 if the kernel is too old.
func handleOf(c *net.UnixConn) (handle int, err error) {
	handle = -1
	err = control(c, func(fd int) error {
		h, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
		switch {
		case err == nil:
			handle = h
		case errors.Is(err, unix.ESRCH):
			return errors.New("the process that connected is gone")
		}
		return nil
	})
	return handle, err
}

func look(pid int) (origin, error) {
	theirs, err := confinementOf(strconv.Itoa(pid))
	if err != nil {
		return origin{}, err
	}
	ours, err := confinementOf("self")
	if err != nil {
		return origin{}, err
	}
	o := origin{objection: theirs.beyond(ours), elsewhere: theirs.namespace != ours.namespace}
	itself, _, err := processOf(pid)
	if err != nil {
		return origin{}, err
	}
	o.itself = []peerProcess{itself}
	o.lineage, err = lineageOf(pid)
	return o, err
}

// A confinement describes the restrictions of a process.
type confinement struct {
	namespace   string
	noNewPrivs  bool
	seccompMode int
	filters     int
}

// beyond returns how a process is more confined than the gate, or "". Usually both run in
// the same container, and there is no difference.
func (c confinement) beyond(gate confinement) string {
	switch {
	case c.namespace != gate.namespace:
		return "the process is in another pid namespace"
	case c.noNewPrivs && !gate.noNewPrivs:
		return "the process has given up new privileges, as a sandbox does"
	case c.seccompMode > gate.seccompMode || c.filters > gate.filters:
		return "the process runs under a seccomp filter, as a sandbox does"
	}
	return ""
}

func confinementOf(pid string) (c confinement, err error) {
	if c.namespace, err = os.Readlink("/proc/" + pid + "/ns/pid"); err != nil {
		return c, err
	}
	text, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return c, err
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		number, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil {
			continue
		}
		switch name {
		case "NoNewPrivs":
			c.noNewPrivs = number != 0
		case "Seccomp":
			c.seccompMode = number
		case "Seccomp_filters":
			c.filters = number
		}
	}
	return c, nil
}

// lineageOf returns the ancestors of a process, nearest first.
func lineageOf(pid int) (lineage []peerProcess, err error) {
	_, parent, err := processOf(pid)
	for err == nil && parent > 0 && len(lineage) < maxLineage {
		var p peerProcess
		if p, parent, err = processOf(parent); err == nil {
			lineage = append(lineage, p)
		}
	}
	return lineage, err
}

// processOf returns a process and its parent.
func processOf(pid int) (p peerProcess, parent int, err error) {
	parent, started, ok := process.Stat(pid)
	name := process.Name(pid, started)
	if !ok || name == "" {
		return p, 0, &fs.PathError{Op: "open", Path: fmt.Sprintf("/proc/%d/stat", pid), Err: fs.ErrNotExist}
	}
	return peerProcess{pid, name}, parent, nil
}
