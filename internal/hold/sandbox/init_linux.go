package sandbox

import (
	"errors"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// passedOn are the signals that the helper forwards to the command. As the first process
// of its namespace, it only receives signals that it handles.
var passedOn = []os.Signal{
	unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGCONT, unix.SIGWINCH,
	unix.SIGTSTP, unix.SIGALRM,
}

// signalled is added to the number of the signal that ended a command, like shells do.
const signalled = 128

// run starts the command, waits for it, reaps orphans, and returns the exit code. When
// the helper exits, the kernel kills all remaining processes.
func (h *helper) run() int {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, passedOn...)
	pid, err := syscall.ForkExec(h.Path, h.Args, &syscall.ProcAttr{
		Env: h.Env, Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Setsid: h.Layers.has(withNamespaces), Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		h.fail("start "+h.Path, err)
	}
	h.started()
	if h.Layers.has(withNamespaces) {
		go func() {
			for s := range signals {
				if number, ok := s.(syscall.Signal); ok {
					_ = unix.Kill(-pid, number) // it may already have ended
				}
			}
		}()
	}
	return reapUntil(pid)
}

// reapUntil reaps children until the command has ended.
func reapUntil(command int) int {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return exitSetup
		case pid == command && status.Exited():
			return status.ExitStatus()
		case pid == command && status.Signaled():
			return signalled + int(status.Signal())
		}
	}
}
