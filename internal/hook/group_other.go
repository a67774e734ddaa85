//go:build !unix

package hook

import (
	"context"
	"os/exec"
)

func shellCommand(ctx context.Context, line string) *exec.Cmd {
	return exec.CommandContext(ctx, "cmd.exe", "/C", line)
}

// ownGroup does nothing: groups of processes are not to be had here, and the program
// alone is killed.
func ownGroup(*exec.Cmd) {}
