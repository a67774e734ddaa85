package sandbox

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/egress"
)

// namespaces are the namespaces that every command gets.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS

// setupRights are the capabilities that the helper needs for the setup: two for files private to
// layers, the last two for the loopback and the name server. It does not pass them on.
var setupRights = []uintptr{
	unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_NET_ADMIN,
	unix.CAP_NET_BIND_SERVICE,
}

// holdings are the helper's pipes, and the placeholders.
type holdings struct {
	order, said, says *os.File // says is the helper's end
	exit, entry       *os.File // the ends of the way out; entry is the helper's
	served            chan struct{}
	places            []*placeholder
}

// closeFiles closes the pipes to and from the helper.
func (h *holdings) closeFiles() (err error) {
	for _, f := range []*os.File{h.order, h.said, h.says, h.exit, h.entry} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}

// layers returns all layers, unless fewer are accepted and needed.
func (l Limits) layers() layers {
	if l.Weaker && Available().Level == umpire.SandboxWeaker {
		return weakerLayers
	}
	return allLayers
}

// hand changes the command to start the helper.
func (b *Box) hand(cmd *exec.Cmd, o *order) error {
	if !called {
		return errors.New("sandbox.Main was not called by this program")
	}
	var told bytes.Buffer
	if err := gob.NewEncoder(&told).Encode(o); err != nil {
		return err
	}
	if b.ahead.fits(cmd, o) {
		b.take(cmd, told.Bytes())
		b.serve(b.out)
		return nil
	}
	b.ahead = nil
	fd, err := unix.MemfdCreate("order", unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	b.order = os.NewFile(uintptr(fd), "order")
	if _, err := b.order.WriteAt(told.Bytes(), 0); err != nil {
		return err
	}
	if err := b.become(cmd, b.order, o); err != nil {
		return err
	}
	b.serve(b.out)
	return nil
}

// become turns a command into the helper, which reads its order from a file.
func (h *holdings) become(cmd *exec.Cmd, from *os.File, o *order) (err error) {
	if h.said, h.says, err = os.Pipe(); err != nil {
		return err
	}
	cmd.Path, cmd.Args, cmd.Dir = "/proc/self/exe", []string{"umpire", helperWord}, "/"
	cmd.Env = helperEnv(o.Env)
	cmd.ExtraFiles = []*os.File{from, h.says}
	if o.Reach == reachItself {
		if err := h.openWay(); err != nil {
			return err
		}
		cmd.ExtraFiles = append(cmd.ExtraFiles, h.entry)
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	if o.Layers.has(withNamespaces) {
		return isolateNamespaces(cmd.SysProcAttr, o.Reach)
	}
	return nil
}

// openWay makes the two ends of the way out.
func (h *holdings) openWay() error {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	h.exit, h.entry = os.NewFile(uintptr(ends[0]), "exit"), os.NewFile(uintptr(ends[1]), "entry")
	return nil
}

// serve serves the exit until the helper ends.
func (h *holdings) serve(exit *egress.Exit) {
	if h.exit == nil || exit == nil {
		return
	}
	h.served = make(chan struct{})
	go func() {
		defer close(h.served)
		exit.Serve(h.exit)
	}()
}

// leave closes the way out, and waits until no new connection is accepted.
func (h *holdings) leave() {
	for _, end := range []*os.File{h.entry, h.exit} {
		if end != nil {
			_ = end.Close() // the helper's copy closed with it
		}
	}
	if h.served != nil {
		<-h.served
	}
}

// helperEnv returns the helper's own environment, because the command's could affect it.
// It keeps the race detector's options and the coverage folder of tests. The helper
// rarely has enough garbage to be worth collecting.
func helperEnv(env []string) []string {
	kept := []string{"GOMAXPROCS=1", "GOGC=400", "GOTRACEBACK=none"}
	for _, pair := range env {
		if strings.HasPrefix(pair, "GORACE=") || strings.HasPrefix(pair, "GOCOVERDIR=") {
			kept = append(kept, pair)
		}
	}
	return kept
}

// isolateNamespaces requests the namespaces.
func isolateNamespaces(attr *syscall.SysProcAttr, far reach) error {
	attr.Cloneflags |= namespaces
	if far != reachMachine {
		attr.Cloneflags |= unix.CLONE_NEWNET
	}
	attr.AmbientCaps = setupRights
	if os.Geteuid() != 0 {
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
		return nil
	}
	// Root keeps every owner's id, so files look the same inside and outside.
	var err error
	if attr.UidMappings, err = sameIDs("/proc/self/uid_map"); err == nil {
		attr.GidMappings, err = sameIDs("/proc/self/gid_map")
	}
	attr.GidMappingsEnableSetgroups = true
	return err
}

// sameIDs maps every existing id to itself.
func sameIDs(file string) ([]syscall.SysProcIDMap, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []syscall.SysProcIDMap
	for line := range strings.Lines(string(data)) {
		var inside, outside, size int
		if _, err := fmt.Sscan(line, &inside, &outside, &size); err != nil {
			return nil, umpire.Errorf("%s: %q: %w", file, line, err)
		}
		all = append(all, syscall.SysProcIDMap{ContainerID: inside, HostID: inside, Size: size})
	}
	return all, nil
}

// letGo releases the helper's resources, and distinguishes a failed setup from the
// command's own error.
func (b *Box) letGo(ended error) error {
	for _, p := range b.places {
		p.release()
	}
	b.leave()
	if b.order != nil {
		_ = b.order.Close() // nothing more is written to it
	}
	if b.said == nil {
		return ended
	}
	_ = b.says.Close() // the helper's copy closed with it, so reading ends
	defer b.said.Close()
	if b.cmd.Process == nil && ended != nil {
		return &SetupError{Step: "namespaces", Reason: refusedNamespaces(ended)}
	}
	return b.readReports(ended)
}

// readReports reads the helper's reports.
func (b *Box) readReports(ended error) error {
	started := false
	failed := &SetupError{Step: "helper", Reason: "it ended without a word"}
	if ended != nil {
		failed.Reason = ended.Error()
	}
	for reports := json.NewDecoder(b.said); ; {
		var r report
		if reports.Decode(&r) != nil {
			break
		}
		started = started || r.Started
		if r.Step != "" {
			failed = &SetupError{Step: r.Step, Reason: r.Reason}
		}
		b.Seen.add(&r)
	}
	if !started {
		return failed
	}
	return ended
}

// refusedNamespaces explains why the helper could not be started.
func refusedNamespaces(err error) string {
	switch {
	case errors.Is(err, unix.EPERM):
		return "the kernel, or the container that this runs in, refuses them (operation not permitted)"
	case errors.Is(err, unix.ENOSPC):
		return "no more of them may be made (user.max_user_namespaces)"
	}
	return err.Error()
}

// keepAbsent puts a placeholder at a path that must not be created.
func (b *Box) keepAbsent(path string) error {
	root, name, err := b.in(path)
	if err != nil {
		return err
	}
	place, err := holdPlace(root, name)
	if err == nil {
		b.places = append(b.places, place)
	}
	return err
}
