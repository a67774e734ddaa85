//go:build unix

package process

import (
	"errors"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// A Group is a program with all its child processes that did not leave its group.
type Group struct {
	// Done receives the program's error once, after the rest of its group has ended.
	Done chan error
	pid  int
}

// Own gives a command its own session: a process group without a terminal on which it
// could answer for the person. Call it before Start.
func Own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	dieWithParent(cmd.SysProcAttr)
}

// Start starts a command prepared with Own. The starting thread lives as long as the command,
// because the kernel treats that thread as the parent whose death kills the command.
func Start(cmd *exec.Cmd) (*Group, error) {
	g := &Group{Done: make(chan error, 1)}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			g.pid = cmd.Process.Pid
		}
		started <- err
		if err != nil {
			return
		}
		g.Done <- g.wait(cmd)
	}()
	return g, <-started
}

// Stop asks the whole group to end, and kills it after the grace period. It receives from
// Done.
func (g *Group) Stop(grace time.Duration) {
	g.signal(syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-g.Done: //nolint:errcheck // it is known to have been stopped
		return
	case <-timer.C:
	}
	g.signal(syscall.SIGKILL)
	<-g.Done //nolint:errcheck // it is known to have been stopped
}

func (g *Group) signal(s syscall.Signal) {
	if err := syscall.Kill(-g.pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		// EPERM: the process changed credentials. Signal the leader; nothing more is possible.
		_ = syscall.Kill(g.pid, s)
	}
}
