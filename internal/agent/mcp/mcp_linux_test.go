package mcp

import (
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire/internal/config"
)

// A server's child processes end with it.
func TestNothingIsLeftRunning(t *testing.T) {
	t.Parallel()
	w := open(t, map[string]config.Server{"s": local()})
	pid, err := strconv.Atoi(w.run("mcp__s__leave", `{}`).Output)
	if err != nil {
		t.Fatal(err)
	}
	process, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatalf("nothing was left as %d: %v", pid, err)
	}
	defer unix.Close(process)
	w.Close()
	ended := []unix.PollFd{{Fd: int32(process), Events: unix.POLLIN}}
	if n, err := unix.Poll(ended, 10_000); n != 1 || err != nil {
		t.Errorf("process %d is still there (%v)", pid, err)
	}
}
