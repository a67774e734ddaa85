package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/hold/process"
)

// proberWord is the argument that makes this program run the probes.
const proberWord = "__sandbox-probe"

// A testBed holds the targets of the probes. It is made outside of the sandbox.
type testBed struct {
	Base     string `json:"base"`     // a folder with the workspace w, and a folder o outside of it
	Abstract string `json:"abstract"` // name of a socket
	TCP      string `json:"tcp"`
	UDP      string `json:"udp"`
	Process  int    `json:"process"` // a process outside
	Started  string `json:"started"` // its start time
	Disk     string `json:"disk"`    // a block device, or ""
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
	return s.tryIn(ctx, &Place{Workspace: []string{s.at("w")}}, Limits{Mode: umpire.SandboxWorkspaceWrite}, which)
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
	cmd.Dir, cmd.Stderr = s.at("w"), os.Stderr
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
		return nil, umpire.Errorf("the probe program answered %q", out)
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
	s := &testBed{Base: base, Process: os.Getpid(), Disk: someDisk()}
	_, s.Started, _ = process.Stat(s.Process)
	var open []func() error
	done := func() {
		for _, end := range open {
			_ = end() // no other code uses it
		}
		_ = os.RemoveAll(base) // the names of leftovers tell their origin
	}
	if err := s.makeFiles(); err != nil {
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
		open = append(open, l.Close)
		return l.Addr().String(), nil
	}
	packets, err := new(net.ListenConfig).ListenPacket(ctx, "udp", "127.0.0.1:0")
	if err == nil {
		open = append(open, packets.Close)
		s.UDP = packets.LocalAddr().String()
		s.TCP, err = listen("tcp", "127.0.0.1:0")
	}
	if err == nil {
		s.Abstract, err = listen("unix", "@umpire-"+filepath.Base(base))
	}
	if err == nil {
		var short string
		var release func() error
		if short, release, err = files.SocketName(s.at("o/socket")); err == nil {
			open = append(open, release)
			_, err = listen("unix", short)
		}
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return s, done, nil
}

func (s *testBed) at(name string) string { return filepath.Join(s.Base, name) }

// makeFiles writes the targets: files outside for each kind of attempt, and a repository inside.
func (s *testBed) makeFiles() error {
	for _, name := range []string{
		"o/write", "o/truncate", "o/unlink", "o/link", "o/rename", "o/mode", "o/time", "o/attribute", "o/child",
		"o/reopen", "w/.git/HEAD", "w/.git/config", "w/.git/hooks/pre-commit", "w/.umpire/permissions.json", "w/own",
	} {
		if err := makeFile(s.at(name)); err != nil {
			return err
		}
	}
	return errors.Join(os.Mkdir(s.at("w/.git/objects"), 0o755), os.Symlink(s.at("o"), s.at("w/way-out")))
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
