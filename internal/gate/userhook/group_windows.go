package userhook

import (
	"context"
	"os/exec"
	"syscall"
)

// shellCommand passes the line unchanged because cmd.exe has its own quoting rules.
func shellCommand(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "cmd.exe")
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd.exe /S /C "` + line + `"`}
	return cmd
}

// ownGroup does nothing: there are no process groups here, so only the program itself is killed.
func ownGroup(*exec.Cmd) {}
