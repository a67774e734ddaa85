//go:build unix

package userhook

import (
	"context"
	"os/exec"
	"syscall"

	"github.com/umpirehq/umpire/internal/hold/process"
)

func shellCommand(ctx context.Context, line string) *exec.Cmd {
	return exec.CommandContext(ctx, "/bin/sh", "-c", line)
}

// ownGroup makes the program and its children end together: at its deadline and, on Linux, with the
// umpire process that started it.
func ownGroup(cmd *exec.Cmd) {
	process.Own(cmd)
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
