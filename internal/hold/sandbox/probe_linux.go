package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/process"
)

// proberWord is the argument that makes this program run the probes.
const proberWord = "__sandbox-probe"

// A testBed holds the targets of the probes. It is made outside of the sandbox.
type testBed struct {
	Workspace string `json:"workspace"`
	Outside   string `json:"outside"`
	Abstract  string `json:"abstract"` // name of a socket
	TCP       string `json:"tcp"`
	UDP       string `json:"udp"`
	Process   int    `json:"process"` // a process outside
	Started   string `json:"started"` // its start time
	Disk      string `json:"disk"`    // a block device, or ""
}

// Examine runs the probes in its own folder below dir, which must not be in /tmp. It
// reports the outcome for each layer.
func Examine(ctx context.Context, dir string) (Report, error) {
	r := Report{Ability: Available(), Landlock: landlockVersion()}
	if r.Level == umpire.SandboxNone {
		return r, nil
	}
	for _, p := range probes {
		r.Probes = append(
			r.Probes, Probe{Group: p.group, Name: p.name, loopback: slices.Contains(loopbackProbes, p.name)},
		)
	}
	for _, column := range []struct {
		layers layers
		set    func(*Probe, Outcome)
	}{
		{withLandlock, func(p *Probe, o Outcome) { p.Landlock = o }},
		{weakerLayers, func(p *Probe, o Outcome) { p.Filter = o }},
		{allLayers, func(p *Probe, o Outcome) { p.Full = o }},
	} {
		if column.layers == allLayers && !r.Whole() {
			continue
		}
		outcomes, err := probeWith(ctx, dir, column.layers)
		if err != nil {
			return r, err
		}
		for i := range outcomes {
			column.set(&r.Probes[i], outcomes[i])
		}
	}
	return r, nil
}

// probeWith runs all probes under some of the layers.
func probeWith(ctx context.Context, dir string, which layers) ([]Outcome, error) {
	s, done, err := newTestBed(ctx, dir)
	if err != nil {
		return nil, umpire.Errorf("prepare the probes: %w", err)
	}
	defer done()
	return s.tryIn(ctx, &Place{Workspace: []string{s.Workspace}}, Limits{Mode: umpire.SandboxWorkspaceWrite}, which)
}

// tryIn runs all probes as a command of a place.
func (s *testBed) tryIn(ctx context.Context, place *Place, limits Limits, which layers) ([]Outcome, error) {
	encoded, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, proberWord, string(encoded))
	cmd.Dir, cmd.Stderr = s.Workspace, os.Stderr
	b := &Box{cmd: cmd, place: place}
	o, err := place.order(cmd, limits, which, b)
	if err != nil {
		_ = b.Close(nil)
		return nil, err
	}
	if err := b.hand(cmd, o); err != nil {
		_ = b.Close(nil)
		return nil, err
	}
	out, err := cmd.Output()
	if err := b.Close(err); err != nil {
		return nil, err
	}
	var outcomes []Outcome
	if err := json.Unmarshal(out, &outcomes); err != nil || len(outcomes) != len(probes) {
		return nil, umpire.Errorf("the prober said %q", out)
	}
	return outcomes, nil
}

// newTestBed makes the targets of the probes.
func newTestBed(ctx context.Context, dir string) (*testBed, func(), error) {
	base, err := os.MkdirTemp(dir, "probe-")
	if err != nil {
		return nil, nil, err
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return nil, nil, err
	}
	s := &testBed{
		Workspace: filepath.Join(base, "w"), Outside: filepath.Join(base, "o"), Process: os.Getpid(), Disk: someDisk(),
	}
	_, s.Started, _ = process.Stat(s.Process)
	var open []io.Closer
	done := func() {
		for _, c := range open {
			_ = c.Close() // no other code uses it
		}
		_ = os.RemoveAll(base) // the names of leftovers tell their origin
	}
	if err := s.files(); err != nil {
		done()
		return nil, nil, err
	}
	listen := func(network, address string) (string, error) {
		l, err := new(net.ListenConfig).Listen(ctx, network, address)
		if err != nil {
			return "", err
		}
		if u, ok := l.(*net.UnixListener); ok {
			u.SetUnlinkOnClose(false) // it is removed with the folder; its short name is invalid by then
		}
		open = append(open, l)
		return l.Addr().String(), nil
	}
	packets, err := new(net.ListenConfig).ListenPacket(ctx, "udp", "127.0.0.1:0")
	if err == nil {
		open = append(open, packets)
		s.UDP = packets.LocalAddr().String()
		s.TCP, err = listen("tcp", "127.0.0.1:0")
	}
	if err == nil {
		s.Abstract, err = listen("unix", "@umpire-"+filepath.Base(base))
	}
	if err == nil {
		var short string
		var folder io.Closer
		if short, folder, err = shortPath(s.outside("socket")); err == nil {
			open = append(open, folder)
			_, err = listen("unix", short)
		}
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return s, done, nil
}

// maxSocketPath is the maximum length of a socket's path (unix(7)).
const maxSocketPath = 107

// shortPath returns a short path to a file. It is valid while the returned folder is
// open.
func shortPath(path string) (string, io.Closer, error) {
	if len(path) <= maxSocketPath {
		return path, io.NopCloser(nil), nil
	}
	dir, err := os.OpenFile(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)), dir, nil
}

func (s *testBed) outside(name string) string { return filepath.Join(s.Outside, name) }
func (s *testBed) inside(name string) string  { return filepath.Join(s.Workspace, name) }

// files writes the targets: files outside for each kind of attempt, and a repository inside.
func (s *testBed) files() error {
	for _, dir := range []string{s.Outside, s.inside(".git/hooks"), s.inside(".git/objects"), s.inside(".umpire")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	files := []string{
		s.inside(".git/HEAD"), s.inside(".git/config"), s.inside(".git/hooks/pre-commit"),
		s.inside(".umpire/permissions.json"), s.inside("own"),
	}
	for _, name := range []string{
		"write", "truncate", "unlink", "link", "rename", "mode", "time", "attribute", "child", "reopen",
	} {
		files = append(files, s.outside(name))
	}
	for _, path := range files {
		if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
			return err
		}
	}
	return os.Symlink(s.Outside, s.inside("way-out"))
}

// someDisk returns a block device of this machine, or "".
func someDisk() string {
	disks, _ := os.ReadDir("/sys/class/block") // a container may not show any
	for _, d := range disks {
		if isPresent("/dev/" + d.Name()) {
			return "/dev/" + d.Name()
		}
	}
	return ""
}

// runProbes runs all probes and prints their outcomes.
func runProbes(encoded string) error {
	var s testBed
	if err := json.Unmarshal([]byte(encoded), &s); err != nil {
		return err
	}
	var outcomes []Outcome
	for _, p := range probes {
		outcomes = append(outcomes, outcomeOf(p.try(&s)))
	}
	return json.NewEncoder(os.Stdout).Encode(outcomes)
}

// errNotFound means that the target of an attempt does not exist.
var errNotFound = unix.ENOENT

func outcomeOf(err error) Outcome {
	if err == nil {
		return allowed
	}
	if errno, ok := errors.AsType[unix.Errno](err); ok {
		return Outcome(unix.ErrnoName(errno))
	}
	return Outcome(strings.ReplaceAll(err.Error(), "\n", " "))
}

// The groups of probes.
const (
	ofFiles     = "files outside"
	ofGuarded   = "guarded files"
	ofNetwork   = "network"
	ofProcesses = "other processes"
	ofKernel    = "kernel"
)
