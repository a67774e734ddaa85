//go:build unix

package process

import (
	"errors"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// A Group is a program with all processes that it started and that did not leave.
type Group struct {
	// Done yields once how the program ended; the rest of its group has ended then.
	Done chan error
	pid  int
}

// Own gives a command a session of its own: a process group, and no terminal on which
// it could answer for the person. It is for before Start.
func Own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	dieWithParent(cmd.SysProcAttr)
}

// Start starts a command that Own was called for. The thread that started it lives as
// long as it does: where a child dies with its parent, the parent is that thread.
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

// Stop ends the whole group: it is asked first, and ended when its time is over. It
// takes what Done yields.
func (g *Group) Stop(grace time.Duration) {
	g.signal(syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-g.Done: //nolint:errcheck // that it was stopped is known already
		return
	case <-timer.C:
	}
	g.signal(syscall.SIGKILL)
	<-g.Done //nolint:errcheck // that it was stopped is known already
}

func (g *Group) signal(s syscall.Signal) {
	if err := syscall.Kill(-g.pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		// Only what took other rights can refuse; nothing else can be done to it.
		_ = syscall.Kill(g.pid, s)
	}
}
