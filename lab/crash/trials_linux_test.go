package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// standing is the configuration of a person at medium autonomy.
const standing = `autonomy: {outside_reads: run, scratch: inside, edits: run, unknown_code: trial, deletes: trial,
  local_git: run, network: once}
`

// A triedProject is a project in which commands run as trials.
type triedProject struct {
	testing.TB
	home, root string
}

func newTriedProject(t testing.TB) *triedProject {
	t.Helper()
	dir := newFolder(t)
	p := &triedProject{TB: t, home: filepath.Join(dir, "home"), root: filepath.Join(dir, "project")}
	for _, folder := range []string{filepath.Join(p.home, ".umpire"), filepath.Join(p.root, ".git")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(p.home, ".umpire", "config.yaml"), standing)
	write(t, filepath.Join(p.root, "kept"), "as it was\n")
	if out, code := p.run("umpire try -- true"); code == 125 {
		t.Skipf("no command can be tried here: %s", out)
	}
	return p
}

// command is a line of bash with umpire in its PATH, which ends with all that it started when it is killed.
func (p *triedProject) command(line string) *exec.Cmd {
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir = p.root
	cmd.Env = []string{
		"HOME=" + p.home, "PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH"), "LANG=C",
		"CLAUDE_PROJECT_DIR=" + p.root,
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// run runs a line to its end.
func (p *triedProject) run(line string) (output string, code int) {
	p.Helper()
	cmd := p.command(line)
	out, err := cmd.CombinedOutput()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		p.Fatalf("%s: %v", line, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// hosted returns the command that Claude Code runs for a line in a session after its hook has answered.
func (p *triedProject) hosted(session, line string) string {
	p.Helper()
	question, err := json.Marshal(map[string]any{
		"session_id": session, "hook_event_name": "PreToolUse", "permission_mode": "default", "tool_name": "Bash",
		"tool_use_id": fmt.Sprint("toolu_", time.Now().UnixNano()), "cwd": p.root,
		"tool_input": map[string]any{"command": line},
	})
	if err != nil {
		p.Fatal(err)
	}
	cmd := p.command("umpire hook claude")
	cmd.Stdin = bytes.NewReader(question)
	out, err := cmd.Output()
	var answer struct {
		Output struct {
			Input struct {
				Command string `json:"command"`
			} `json:"updatedInput"`
		} `json:"hookSpecificOutput"`
	}
	if err == nil {
		err = json.Unmarshal(out, &answer)
	}
	if err != nil || answer.Output.Input.Command == "" {
		p.Fatalf("%s: %v, answered %s", line, err, out)
	}
	return "eval " + quote(answer.Output.Input.Command) + " && true"
}

func quote(line string) string { return "'" + strings.ReplaceAll(line, "'", `'\''`) + "'" }

// wantFile checks the content of a file of the project; "" means that it must not exist.
func (p *triedProject) wantFile(name, text string) {
	p.Helper()
	got, err := os.ReadFile(filepath.Join(p.root, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		p.Fatal(err)
	}
	if string(got) != text {
		p.Errorf("%s has %q, want %q", name, got, text)
	}
}

// TestTwoSessionsInOneProject: a trial that takes long keeps no trial of another session waiting.
func TestTwoSessionsInOneProject(t *testing.T) {
	t.Parallel()
	long, trials := time.Minute, 20
	if testing.Short() {
		long, trials = 20*time.Second, 4
	}
	p := newTriedProject(t)
	write(t, filepath.Join(p.root, "long.sh"), fmt.Sprintf("sleep %v; echo slept\n", long.Seconds()))
	write(t, filepath.Join(p.root, "make.sh"), "echo made >made$1\n")
	var slept bytes.Buffer
	slow := p.command(p.hosted("one", "bash long.sh"))
	slow.Stdout, slow.Stderr = &slept, &slept
	began := time.Now()
	if err := slow.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- slow.Wait() }()
	var longest time.Duration
	for i := range trials {
		one := time.Now()
		if out, code := p.run(p.hosted("two", fmt.Sprint("bash make.sh ", i))); code != 0 {
			t.Fatalf("trial %d ended with %d: %s", i, code, out)
		}
		longest = max(longest, time.Since(one))
	}
	took := time.Since(began)
	select {
	case err := <-ended:
		t.Errorf("the long trial had ended after %v (%v), when %d others were done: %s", took, err, trials, slept.String())
	default:
		if err := <-ended; err != nil || strings.TrimSpace(slept.String()) != "slept" {
			t.Errorf("the long trial: %v: %s", err, slept.String())
		}
	}
	for i := range trials {
		p.wantFile(fmt.Sprint("made", i), "made\n")
	}
	if longest > long/2 {
		t.Errorf("a trial took %v while another one slept", longest)
	}
	t.Logf("figure: beside a trial that sleeps %v, %d trials of another session took %v, the longest %v",
		long, trials, took.Round(time.Millisecond), longest.Round(time.Millisecond))
}

// TestKilledTrials: several trials of a project run when their processes are killed. The project does not change,
// no process remains, and later trials work.
func TestKilledTrials(t *testing.T) {
	t.Parallel()
	p := newTriedProject(t)
	const trials = 5
	mark := fmt.Sprint("86399.", time.Now().UnixNano()) // of the processes, which see no other names
	healthy, codeBefore := p.run("umpire doctor")
	var all []*exec.Cmd
	for i := range trials {
		cmd := p.command(fmt.Sprintf(
			"exec umpire try --keep -- 'echo other >kept; mkdir d%d; touch d%d/started; exec sleep %s'", i, i, mark,
		))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	layers := filepath.Join(p.home, ".umpire", "state", "trials")
	started := func() int {
		found, _ := filepath.Glob(filepath.Join(layers, "trial-*", "0", "upper", "d*", "started"))
		return len(found)
	}
	wait(t, "the trials to run", func() bool { return started() == trials })
	for _, cmd := range all {
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait() // it was killed
	}
	wait(t, "what they ran to end", func() bool { return countProcesses(t, mark) == 0 })
	p.wantFile("kept", "as it was\n")
	if left, err := filepath.Glob(filepath.Join(p.root, "d*")); err != nil || len(left) > 0 {
		t.Errorf("the project has %q (%v)", left, err)
	}
	if out, code := p.run("umpire try --list"); code != 0 || strings.TrimSpace(out) != "no trial waits" {
		t.Errorf("the list ends with %d: %s", code, out)
	}
	if out, code := p.run("umpire doctor"); code != codeBefore || out != healthy {
		t.Errorf("umpire doctor ends with %d: %s\nbefore with %d: %s", code, out, codeBefore, healthy)
	}
	if out, code := p.run("umpire try --keep -- 'cat kept >after'"); code != 0 {
		t.Errorf("a later trial ends with %d: %s", code, out)
	}
	p.wantFile("after", "as it was\n")

	// Their remains are removed when they are old.
	old := time.Now().Add(-2 * time.Hour)
	left, err := filepath.Glob(filepath.Join(layers, "trial-*"))
	if err != nil || len(left) == 0 {
		t.Errorf("no layer is left (%v)", err)
	}
	for _, path := range append(left, filepath.Join(p.home, ".umpire", "state", "tidied")) {
		if err := os.Chtimes(path, old, old); err != nil {
			t.Error(err)
		}
	}
	if out, code := p.run("umpire try -- true"); code != 0 {
		t.Errorf("a later trial ends with %d: %s", code, out)
	}
	if left, err := filepath.Glob(filepath.Join(layers, "trial-*")); err != nil || len(left) > 0 {
		t.Errorf("these layers are left: %q (%v)", left, err)
	}
}

// wait waits until something holds.
func wait(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatal("waited too long for " + what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// countProcesses counts those whose command line holds a text.
func countProcesses(t testing.TB, text string) (n int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if line, err := os.ReadFile(name); err == nil && bytes.Contains(line, []byte(text)) {
			n++
		}
	}
	return n
}
