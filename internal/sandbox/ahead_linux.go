package sandbox

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/process"
)

// An Ahead is a helper that was started before it was known what it has to do, so that it starts
// while that is found out. Until it is told it only waits, and it serves one command. A nil one
// serves none.
type Ahead struct {
	holdings // order is the end that is written to

	cmd            *exec.Cmd
	reach          reach
	told           []byte // its order, as soon as there is one
	taken          bool   // it has a command, or none is wanted any more
	stdout, stderr lateWriter
	started        chan error // yields once
	group          *process.Group
}

// A lateWriter passes on what is written to it to a writer that is known later.
type lateWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (l *lateWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to == nil {
		return len(p), nil // nobody asked for it
	}
	return l.to.Write(p)
}

func (l *lateWriter) set(to io.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to = to
}

// StartAhead starts a helper for a command that will write to a workspace. A command for which it
// turns out not to fit starts one of its own, and so does one where this fails. End it in any case.
func StartAhead(stdin *os.File, network bool) *Ahead {
	if !called {
		return nil
	}
	a := &Ahead{
		reach:   Limits{Mode: umpire.SandboxWorkspaceWrite, Network: network}.reach(allLayers),
		started: make(chan error, 1),
	}
	a.cmd = &exec.Cmd{Stdout: &a.stdout, Stderr: &a.stderr}
	if stdin != nil {
		a.cmd.Stdin = stdin // a nil file would not be a nil reader
	}
	process.Own(a.cmd)
	read, write, err := os.Pipe()
	if err != nil {
		return nil
	}
	a.order = write
	if err := a.become(a.cmd, read, &order{Layers: allLayers, Reach: a.reach, Env: os.Environ()}); err != nil {
		_ = errors.Join(read.Close(), a.closeFiles()) // the command's own helper says why
		return nil
	}
	go func() {
		var err error
		a.group, err = process.Start(a.cmd)
		_ = read.Close() // the helper has its own
		a.started <- err
	}()
	return a
}

// End ends a helper that was not needed, and waits for it.
func (a *Ahead) End() {
	if a == nil || a.taken {
		return
	}
	a.taken = true
	if <-a.started == nil {
		a.group.Stop(0)
	}
	_ = a.closeFiles() // nothing was told
}

// fits reports whether a command can have this helper.
func (a *Ahead) fits(cmd *exec.Cmd, o *order) bool {
	return a != nil && !a.taken && o.Layers == allLayers && o.Reach == a.reach && cmd.Stdin == a.cmd.Stdin
}

// take has the helper that was started ahead serve a command.
func (b *Box) take(cmd *exec.Cmd, told []byte) {
	a := b.ahead
	a.taken, a.told = true, told
	a.stdout.set(cmd.Stdout)
	a.stderr.set(cmd.Stderr)
	b.cmd, b.holdings = a.cmd, a.holdings
}

// Command is what starts: the command that Wrap was given, or the helper that was started ahead.
func (b *Box) Command() *exec.Cmd { return b.cmd }

// Start starts it.
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
