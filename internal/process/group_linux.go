package process

import (
	"errors"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent makes the kernel end a command whose runner was ended without
// having had the time to do it.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// wait waits for the command, and ends what it left running before its number can
// come to mean another group.
func (g *Group) wait(cmd *exec.Cmd) error {
	for {
		err := unix.Waitid(unix.P_PID, g.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	g.signal(syscall.SIGKILL)
	return cmd.Wait()
}
