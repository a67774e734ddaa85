package runner_test

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire/internal/process"
)

// TestRunner names this very process, and finds it alive.
func TestRunner(t *testing.T) {
	t.Parallel()
	name := process.NameOf(os.Getpid())
	if name == "" {
		t.Skip("processes cannot be looked at on this system")
	}
	if alive, known := process.Alive(name); !alive || !known {
		t.Errorf("%s: alive %t, known %t", name, alive, known)
	}
	if alive, known := process.Alive(name + "0"); alive || !known {
		t.Errorf("%s of another time: alive %t, known %t", name, alive, known)
	}
	for _, other := range []string{"", "elsewhere:1:2", name[:strings.LastIndexByte(name, ':')]} {
		if _, known := process.Alive(other); known {
			t.Errorf("%q is known", other)
		}
	}
}

// A runner that was killed and not waited for lives no more: its calls are accounted
// for at once, not when its lease is over.
func TestZombieIsNotAlive(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells which process a runner was")
	}
	child := exec.CommandContext(t.Context(), "sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	sleeper := process.NameOf(child.Process.Pid)
	if alive, known := process.Alive(sleeper); !alive || !known {
		t.Fatalf("%q is alive: %t, known: %t", sleeper, alive, known)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for alive := true; alive; alive, _ = process.Alive(sleeper) {
		if soon.Err() != nil {
			t.Fatal("still alive long after it was killed")
		}
	}
	if err := child.Wait(); err == nil {
		t.Error("a child that was killed ended well")
	}
}
