package process_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire/internal/hold/process"
)

// TestRunner names this process, and finds it alive.
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

// A runner that was killed but not yet waited for is not alive: its calls are settled at
// once, not when its lease expires.
func TestZombieIsNotAlive(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells which process a runner was")
	}
	child := exec.CommandContext(t.Context(), "sleep", "1000")
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
	soon, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
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

// threadVariable makes this program end its first thread, and run until its input ends.
const threadVariable = "UMPIRE_TEST_FIRST_THREAD_ENDS"

// TestProcessOutlivesItsFirstThread covers a killed process whose first thread is gone while
// another may still write. A runner's calls are settled only after all its threads have ended.
func TestProcessOutlivesItsFirstThread(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells which process a runner was")
	}
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), threadVariable+"=1")
	input, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	name := process.NameOf(child.Process.Pid)
	stat := fmt.Sprintf("/proc/%d/stat", child.Process.Pid)
	for text := []byte(nil); !bytes.Contains(text, []byte(") Z ")); { // its first thread ends soon
		if text, err = os.ReadFile(stat); err != nil {
			t.Fatal(err)
		}
	}
	if alive, known := process.Alive(name); !alive || !known {
		t.Errorf("%q runs on without its first thread, and is alive: %t, known: %t", name, alive, known)
	}
	_ = input.Close()
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
	if alive, _ := process.Alive(name); alive {
		t.Errorf("%q has ended, and is alive", name)
	}
}

// childVariable makes the child of the test below report its host.
const childVariable = "UMPIRE_TEST_RUNNER_CHILD"

// TestHostChild is that child. Alone it does nothing.
func TestHostChild(t *testing.T) {
	t.Parallel()
	if os.Getenv(childVariable) != "" {
		fmt.Printf("host=%s\n", process.Host(os.Getppid()))
	}
}

// TestHostOutlivesTheShellBetween checks that the host is the parent of a shell that was
// started for one command and ends with the hook. A shell that stays is a host itself.
func TestHostOutlivesTheShellBetween(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells which process a runner was")
	}
	script := filepath.Join(t.TempDir(), "host.sh")
	if err := os.WriteFile(script, []byte("\"$1\" -test.run '^TestHostChild$'\necho self=$$\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const child = `"$0" -test.run '^TestHostChild$'; true`
	for _, shell := range []string{"dash", "bash", "sh", "zsh"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skipf("there is no %s", shell)
			}
			hostOf := func(args ...string) string {
				cmd := exec.CommandContext(t.Context(), path, args...)
				cmd.Env = append(os.Environ(), childVariable+"=1")
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				return string(out)
			}
			want := "host=" + process.NameOf(os.Getpid()) + "\n"
			for _, args := range [][]string{{"-c", child, os.Args[0]}, {"-c", path + ` -c '` + strings.ReplaceAll(child, "'", `'\''`) + `' "$0"; true`, os.Args[0]}} {
				if out := hostOf(args...); !strings.Contains(out, want) {
					t.Errorf("%q: got %swant %s", args[:1], out, want)
				}
			}
			out := hostOf(script, os.Args[0])
			_, self, _ := strings.Cut(out, "self=")
			if !strings.Contains(out, ":"+strings.TrimSpace(self)+":") {
				t.Errorf("a shell that runs a script is not taken for the host: %s", out)
			}
		})
	}
}
