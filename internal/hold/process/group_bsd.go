//go:build unix && !linux

package process

import (
	"os/exec"
	"syscall"
)

// dieWithParent does nothing because this system has no such signal.
func dieWithParent(*syscall.SysProcAttr) {}

// wait waits for the command, and kills its remaining processes.
func (g *Group) wait(cmd *exec.Cmd) error {
	err := cmd.Wait()
	g.signal(syscall.SIGKILL)
	return err
}
