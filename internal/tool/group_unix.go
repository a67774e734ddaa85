//go:build unix

package tool

import (
	"errors"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// A group is a command with all processes that it started and that did not leave.
type group struct {
	pid  int
	done chan error // how the command ended; the rest of its group has ended too
}

// ownGroup gives a command a session of its own: a process group, and no terminal
// on which it could answer for the person.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	dieWithParent(cmd.SysProcAttr)
}

// startGroup starts a command. The thread that started it lives as long as it does:
// where a child dies with its parent, the parent is that thread.
func startGroup(cmd *exec.Cmd) (*group, error) {
	g := &group{done: make(chan error, 1)}
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
		g.done <- g.wait(cmd)
	}()
	return g, <-started
}

// stop ends the whole group: it is asked first, and ended when its time is over.
func (g *group) stop(grace time.Duration) {
	g.signal(syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-g.done: //nolint:errcheck // that it was stopped is known already
		return
	case <-timer.C:
	}
	g.signal(syscall.SIGKILL)
	<-g.done //nolint:errcheck // that it was stopped is known already
}

func (g *group) signal(s syscall.Signal) {
	if err := syscall.Kill(-g.pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		// Only what took other rights can refuse; nothing else can be done to it.
		_ = syscall.Kill(g.pid, s)
	}
}
