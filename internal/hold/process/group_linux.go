package process

import (
	"errors"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent makes the kernel kill a command if its runner is killed without cleaning
// up.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// wait waits for the command, and kills its remaining processes before its id can be
// reused by another group.
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
