package main

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// descendant is an app in a process that descends from others.
func descendant(env map[string]string, above ...ancestor) *app {
	return &app{surroundings: surroundings{
		getenv:    func(name string) string { return env[name] },
		ancestors: func() []ancestor { return above },
	}}
}

func TestNeedPerson(t *testing.T) {
	t.Parallel()
	claude := &agentMarkers[0]
	for _, tt := range []struct {
		name string
		app  *app
		says string
	}{
		{"a person", descendant(nil, ancestor{pid: 9, runner: "h:9:1"}), ""},
		{"marked", descendant(map[string]string{"CLAUDECODE": "1"}), "Claude Code started this process"},
		{"not marked after all", descendant(map[string]string{"CLAUDECODE": "0", "GEMINI_CLI": "false"}), ""},
		{"below a marked one", descendant(nil, ancestor{pid: 9}, ancestor{pid: 8, marker: claude}), "Claude Code started process 8"},
		{"nothing known", &app{surroundings: surroundings{getenv: func(string) string { return "" }}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tt.app.needPerson("this")
			if (err == nil) != (tt.says == "") || err != nil && (!strings.Contains(err.Error(), tt.says) || exitCode(err) != exitRefused) {
				t.Errorf("%v, want %q", err, tt.says)
			}
		})
	}
}

// TestNeedOutsider: who descends from a process that runs a session is its agent.
func TestNeedOutsider(t *testing.T) {
	t.Parallel()
	a := descendant(nil, ancestor{pid: 9, runner: "h:9:1"}, ancestor{pid: 8, runner: "h:8:7"}, ancestor{pid: 1})
	for runner, refuses := range map[string]bool{"h:8:7": true, "h:8:6": false, "other:8:7": false, "": false} {
		err := a.needOutsider("this", map[string]string{runner: "s1"})
		if (err != nil) != refuses {
			t.Errorf("runner %q: %v", runner, err)
		}
		if refuses && (exitCode(err) != exitRefused || !strings.Contains(err.Error(), "descends from 8, which runs session s1")) {
			t.Errorf("runner %q: %v", runner, err)
		}
	}
}

// TestRunner names this very process, and finds it alive.
func TestRunner(t *testing.T) {
	t.Parallel()
	name := runnerOf(os.Getpid())
	if name == "" {
		t.Skip("processes cannot be looked at on this system")
	}
	if alive, known := runnerAlive(name); !alive || !known {
		t.Errorf("%s: alive %t, known %t", name, alive, known)
	}
	if alive, known := runnerAlive(name + "0"); alive || !known {
		t.Errorf("%s of another time: alive %t, known %t", name, alive, known)
	}
	for _, other := range []string{"", "elsewhere:1:2", name[:strings.LastIndexByte(name, ':')]} {
		if _, known := runnerAlive(other); known {
			t.Errorf("%q is known", other)
		}
	}
	if len(ancestors(0)) == 0 || len(ancestors(os.Getppid())) != 0 {
		t.Error("the walk to the root does not end where it should")
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
	runner := runnerOf(child.Process.Pid)
	if alive, known := runnerAlive(runner); !alive || !known {
		t.Fatalf("%q is alive: %t, known: %t", runner, alive, known)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for alive := true; alive; alive, _ = runnerAlive(runner) {
		if soon.Err() != nil {
			t.Fatal("still alive long after it was killed")
		}
	}
	if err := child.Wait(); err == nil {
		t.Error("a child that was killed ended well")
	}
}
