//go:build unix

package userhook

import (
	"context"
	"os/exec"
	"syscall"

	"github.com/umpirehq/umpire/internal/process"
)

func shellCommand(ctx context.Context, line string) *exec.Cmd {
	return exec.CommandContext(ctx, "/bin/sh", "-c", line)
}

// ownGroup has the program and what it starts end as one: when its time is over, and on
// Linux with the umpire that started it.
func ownGroup(cmd *exec.Cmd) {
	process.Own(cmd)
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
