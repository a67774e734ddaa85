package sandbox

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/process"
)

// An Ahead is a helper that starts before its order is known, to start up in the
// meantime. It waits for the order and serves one command. A nil Ahead serves no command.
type Ahead struct {
	holdings // order is the write end

	cmd            *exec.Cmd
	reach          reach
	told           []byte // the encoded order, once there is one
	taken          bool   // it has a command, or is no longer wanted
	stdout, stderr lateWriter
	started        chan error // receives once
	group          *process.Group
}

// A lateWriter forwards writes to a writer that is set later.
type lateWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (l *lateWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to == nil {
		return len(p), nil // no command uses it
	}
	return l.to.Write(p)
}

func (l *lateWriter) set(to io.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to = to
}

// StartAhead starts a helper for a command without the machine's network that will write to a
// workspace. If it fails, or the helper does not fit the command, the command starts its own helper.
// Always call End.
func StartAhead(stdin *os.File) *Ahead {
	if !called {
		return nil
	}
	a := &Ahead{
		reach:   Limits{Mode: umpire.SandboxWorkspaceWrite}.reach(allLayers),
		started: make(chan error, 1),
	}
	a.cmd = &exec.Cmd{Stdout: &a.stdout, Stderr: &a.stderr}
	if stdin != nil {
		a.cmd.Stdin = stdin // a nil *os.File would not be a nil io.Reader
	}
	process.Own(a.cmd)
	read, write, err := os.Pipe()
	if err != nil {
		return nil
	}
	a.order = write
	if err := a.become(a.cmd, read, &order{Layers: allLayers, Reach: a.reach, Env: os.Environ()}); err != nil {
		_ = errors.Join(read.Close(), a.closeFiles()) // the command's own helper reports the error
		return nil
	}
	go func() {
		var err error
		a.group, err = process.Start(a.cmd)
		_ = read.Close() // the helper has its own copy
		a.started <- err
	}()
	return a
}

// End stops an unused helper and waits for it.
func (a *Ahead) End() {
	if a == nil || a.taken {
		return
	}
	a.taken = true
	if <-a.started == nil {
		a.group.Stop(0)
	}
	_ = a.closeFiles() // nothing was written
}

// fits reports whether the helper can serve a command.
func (a *Ahead) fits(cmd *exec.Cmd, o *order) bool {
	return a != nil && !a.taken && o.Layers == allLayers && o.Reach == a.reach && cmd.Stdin == a.cmd.Stdin
}

// take assigns the helper that was started ahead to a command.
func (b *Box) take(cmd *exec.Cmd, told []byte) {
	a := b.ahead
	a.taken, a.told = true, told
	a.stdout.set(cmd.Stdout)
	a.stderr.set(cmd.Stderr)
	b.cmd, b.holdings = a.cmd, a.holdings
}

// Command returns the command to start: the one passed to Wrap, or the helper that was started ahead.
func (b *Box) Command() *exec.Cmd { return b.cmd }

// Start starts the command.
func (b *Box) Start() (*process.Group, error) {
	if b.ahead == nil {
		return process.Start(b.cmd)
	}
	if err := <-b.ahead.started; err != nil {
		return nil, err
	}
	_, err := b.order.Write(b.ahead.told)
	if err = errors.Join(err, b.order.Close()); err != nil {
		b.ahead.group.Stop(0)
	}
	return b.ahead.group, err
}
