//go:build unix

package tool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
)

func makePipe(t *testing.T, path string) bool {
	t.Helper()
	must(t, syscall.Mkfifo(path, 0o600))
	return true
}

func TestBash(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for command, want := range map[string]string{
		"echo out; echo err >&2; echo out": "out\nerr\nout\n",
		"pwd":                              b.root + "\n",
		"read x || echo no input":          "no input\n",
		"":                                 "",
	} {
		if command == "" {
			continue
		}
		if got := b.ok("Bash", fields{"command": command}); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	b.fails("Bash", fields{"command": "echo gone wrong; exit 3"}, "exit code 3\ngone wrong\n")
	b.fails("Bash", fields{"command": "kill -9 $$"}, "signal: killed")
	b.fails("Bash", fields{"command": "true", "timeout": 900_000}, "input.timeout: want 1 to 600000")
}

// TestBashEnvironment: the agent's mark is set, variables that open the gate or change
// the shell are removed, and the command has no terminal.
func TestBashEnvironment(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	hook := b.file("hook", "echo hooked\n")
	b.options.Env = append(os.Environ(), "UMPIRE_TOKEN=secret", "UMPIRE_HOME=/h", "BASH_ENV="+hook, "ENV="+hook,
		"BASH_FUNC_ls%%=() { echo replaced; }", "SHELLOPTS=noexec", "MINE=kept")
	out := b.ok("Bash", fields{"command": `echo "$UMPIRE_AGENT $UMPIRE_HOME $MINE <$UMPIRE_TOKEN$BASH_ENV>"; type -t ls; cut -d' ' -f6 /proc/$$/stat; echo $$`})
	lines := strings.Split(out, "\n")
	if lines[0] != "1 /h kept <>" || lines[1] != "file" {
		t.Errorf("got %q", lines)
	}
	if _, err := os.Stat("/proc/self/stat"); err == nil && lines[2] != lines[3] {
		t.Errorf("process %s is in session %s", lines[3], lines[2])
	}
}

// TestBashEndsItsGroup: a command's processes end with it, after a timeout, a
// cancellation, or its normal end.
func TestBashEndsItsGroup(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		command string
		timeout int
		cancel  bool
		status  umpire.ResultStatus
		text    string
	}{
		"its time is over":       {"sleep 1000 & echo $!; wait", 5000, false, umpire.ResultTimeout, "timed out after 5s"},
		"it does not want to":    {"trap '' TERM; (trap '' TERM; sleep 1000) & echo $!; wait; wait", 5000, false, umpire.ResultTimeout, "timed out"},
		"cancelled":              {"sleep 1000 & echo $! > pid; mkfifo started; echo > started; wait", 60_000, true, umpire.ResultCancelled, "context canceled"},
		"it left something":      {"sleep 1000 & echo $!", 60_000, false, umpire.ResultOK, ""},
		"that ignores the hints": {"(trap '' TERM HUP; sleep 1000) & echo $!", 60_000, false, umpire.ResultOK, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.cancel {
				must(t, syscall.Mkfifo(b.path("started"), 0o600))
				tt.command = strings.Replace(tt.command, "mkfifo started; ", "", 1)
				go func() {
					if _, err := os.ReadFile(b.path("started")); err == nil {
						cancel()
					}
				}()
			}
			r := b.Run(ctx, b.start("Bash", fields{"command": tt.command, "timeout": tt.timeout}))
			if r.Status != tt.status || !strings.Contains(r.Output, tt.text) {
				t.Fatalf("%s %q", r.Status, r.Output)
			}
			pid := lastNumber(r.Output)
			if tt.cancel {
				pid = lastNumber(b.content("pid"))
			}
			ended(t, pid)
		})
	}
}

// TestBashAsksBeforeItEnds: a command has a moment to put things in order.
func TestBashAsksBeforeItEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.grace = time.Minute
	must(t, syscall.Mkfifo(b.path("started"), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		if _, err := os.ReadFile(b.path("started")); err == nil {
			cancel()
		}
	}()
	r := b.Run(ctx, b.start("Bash", fields{"command": "trap 'echo in order; exit' TERM; echo > started; sleep 1000 & wait"}))
	if r.Status != umpire.ResultCancelled || !strings.Contains(r.Output, "in order") {
		t.Errorf("%s %q", r.Status, r.Output)
	}
}

func lastNumber(text string) int {
	words := strings.Fields(text)
	if len(words) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(words[len(words)-1])
	return n
}

// ended waits until a process no longer runs: it is gone, or a zombie.
func ended(t *testing.T, pid int) {
	t.Helper()
	if pid == 0 {
		t.Fatal("no process is named")
	}
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err == nil && strings.Contains(string(stat), ") Z ") || syscall.Kill(pid, 0) != nil {
			return
		}
	}
	t.Errorf("process %d still runs", pid)
}

// TestBashOutputIsBounded: the beginning and the end are kept, and the omitted bytes
// are counted.
func TestBashOutputIsBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	out := b.ok("Bash", fields{"command": "echo begin; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end"})
	if len(out) > outputHead+outputTail+100 || !strings.HasPrefix(out, "begin\n") || !strings.HasSuffix(out, "x\nend\n") {
		t.Errorf("%d bytes: %q ... %q", len(out), out[:20], out[len(out)-20:])
	}
	if want := fmt.Sprintf("[... %d bytes left out ...]", 6+3000000+1+4-outputHead-outputTail); !strings.Contains(out, want) {
		t.Errorf("%q is not in it", want)
	}
}

func TestBackgroundCommands(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	must(t, syscall.Mkfifo(b.path("go"), 0o600))
	out := b.ok("Bash", fields{"command": "echo first; read x < go; echo second $x; exit 4", "run_in_background": true})
	if !strings.HasPrefix(out, "started in the background as bash_1; it prints to "+filepath.Join(b.options.Scratch, "bash_1.out")) {
		t.Errorf("started: %q", out)
	}
	look := func(want string) string {
		all := ""
		for deadline := time.Now().Add(patience); !strings.Contains(all, want); {
			all += b.ok("BashOutput", fields{"bash_id": "bash_1"})
			if time.Now().After(deadline) {
				t.Fatalf("%q does not come: %.300q", want, all)
			}
		}
		return all
	}
	if got := look("first\n"); strings.Count(got, "first") != 1 || !strings.Contains(got, "[bash_1: running]") {
		t.Errorf("while it runs: %.200q", got)
	}
	if jobs := b.Running(); len(jobs) != 1 || jobs[0].ID != "bash_1" {
		t.Errorf("running: %v", jobs)
	}
	must(t, os.WriteFile(b.path("go"), []byte("now\n"), 0))
	if !b.Wait(t.Context(), patience) {
		t.Fatal("it does not end")
	}
	if got := look("second now\n"); strings.Contains(got, "first") || !strings.Contains(got, "[bash_1: ended: exit code 4]") {
		t.Errorf("at the end: %.200q", got)
	}
	b.fails("BashOutput", fields{"bash_id": "bash_9"}, `unknown background command "bash_9"`)
}

func TestBackgroundCommandsEndWhenTheyAreStopped(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for range 2 {
		b.ok("Bash", fields{"command": "sleep 1000 & echo $! > .pid$BASHPID; mv .pid$BASHPID pid$BASHPID; wait", "background": true})
	}
	if b.Wait(t.Context(), time.Millisecond) {
		t.Error("they end by themselves")
	}
	if got := b.ok("KillShell", fields{"shell_id": "bash_1"}); got != "bash_1 is stopped" {
		t.Errorf("got %q", got)
	}
	if got := b.ok("KillShell", fields{"shell_id": "bash_1"}); got != "bash_1 has ended before: ended: stopped" {
		t.Errorf("again: %q", got)
	}
	if jobs := b.Running(); len(jobs) != 1 || jobs[0].ID != "bash_2" {
		t.Errorf("running: %v", jobs)
	}
	b.Close()
	if jobs := b.Running(); len(jobs) != 0 {
		t.Errorf("after the end: %v", jobs)
	}
	b.fails("Bash", fields{"command": "true", "background": true}, "no command can start")
	pids, err := filepath.Glob(b.path("pid*"))
	must(t, err)
	for _, file := range pids {
		ended(t, lastNumber(b.content(file)))
	}
}

func TestBackgroundCommandsAreFewEnough(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for range maxJobs {
		b.ok("Bash", fields{"command": "sleep 1000", "background": true})
	}
	b.fails("Bash", fields{"command": "sleep 1000", "background": true}, fmt.Sprintf("%d commands already run in the background", maxJobs))
}
