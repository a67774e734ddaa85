//go:build unix && !linux

package process

import (
	"os/exec"
	"syscall"
)

// dieWithParent does nothing: the system has no such signal.
func dieWithParent(*syscall.SysProcAttr) {}

// wait waits for the command, and ends what it left running.
func (g *Group) wait(cmd *exec.Cmd) error {
	err := cmd.Wait()
	g.signal(syscall.SIGKILL)
	return err
}
