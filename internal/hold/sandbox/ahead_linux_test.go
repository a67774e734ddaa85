package sandbox

import (
	"os/exec"
	"strings"
	"testing"
)

// TestAhead checks that a helper started ahead serves one command that it fits, and is otherwise stopped.
func TestAhead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := StartAhead(nil)
	defer a.End()
	var out strings.Builder
	start := func(limits Limits) *Box {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "cat", "/proc/self/cgroup")
		cmd.Dir, cmd.Stdout, cmd.Env = b.root, &out, []string{"NAME=value"}
		box, err := b.Wrap(cmd, limits)
		if err != nil {
			t.Fatal(err)
		}
		group, err := box.Start()
		if err == nil {
			err = <-group.Done
		}
		if err := box.Close(err); err != nil {
			t.Fatal(err)
		}
		return box
	}
	limits := writing
	limits.Ahead = a
	online := limits
	online.Network = true
	if box := start(online); box.ahead != nil || a.taken {
		t.Error("it served a command of another reach")
	}
	out.Reset()
	if box := start(limits); box.ahead != a || box.Command() != a.cmd || out.Len() == 0 {
		t.Errorf("it served no command that it fits: %q", &out)
	}
	if box := start(limits); box.ahead != nil {
		t.Error("it served two")
	}
	unused := StartAhead(nil)
	unused.End()
	if unused.cmd.ProcessState == nil {
		t.Error("one that was not needed has not ended")
	}
}
