package userhook

import (
	"context"
	"os/exec"
	"syscall"
)

// shellCommand hands the line over as it is: the shell has rules for quotes of its own.
func shellCommand(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "cmd.exe")
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd.exe /S /C "` + line + `"`}
	return cmd
}

// ownGroup does nothing: there are no process groups here, so only the program itself is
// killed.
func ownGroup(*exec.Cmd) {}
