//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// leadTerminal has a command lead a session whose terminal is its input.
func leadTerminal(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} }
