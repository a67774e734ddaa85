//go:build linux

package shell_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/judge"
	"github.com/umpirehq/umpire/place"
	"github.com/umpirehq/umpire/policy"
)

// The test of this file compares umpire's reading of lines with real shells. Random changes
// turn seeds into lines; each contains a payload, a program that leaves a mark. Allowed lines
// are run, without network and as an unprivileged user: no payload may start. make differential
// runs many.

var (
	differentialLines = flag.Int("differential.lines", 800, "how many lines are made")
	differentialSeed  = flag.Uint64("differential.seed", 1, "which lines are made")
	differentialAll   = flag.Bool("differential.all", false, "fail where a shell is missing")
)

// realShells are the shells that run allowed lines.
var realShells = map[string][]string{
	"bash": {"bash", "--norc"}, "dash": {"dash"}, "zsh": {"zsh", "-f"}, "ksh": {"ksh"}, "mksh": {"mksh"},
	"busybox": {"busybox", "sh"},
}

// linesPerProcess is the number of lines that one process of the driver runs.
const linesPerProcess = 100

// driver runs the lines of a folder with a shell, one process each. The first line is the
// payload alone, which proves that a running payload is noticed.
const driver = `lines=$1; shift
limit=20
for file in "$lines"/*; do
	MARK=${file##*/} timeout -k 1 $limit "$@" -c "$(<"$file")" </dev/null >/dev/null 2>&1
	limit=1
done
sleep 0.3 # for what a line left in the background
`

const payload = "#!/bin/sh\n: >\"$MARKS/${MARK:-unknown}\"\n"

func TestDifferential(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	lines := a.lines(t, *differentialLines, *differentialSeed)
	allowed := a.allowed(t, lines)
	t.Logf("figure: %d lines made of seed %d, %d of them allowed", len(lines), *differentialSeed, len(allowed))
	if len(allowed) < len(lines)/20 {
		t.Errorf("only %d of %d lines are allowed: the lines say little", len(allowed), len(lines))
	}
	for name, command := range realShells {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(command[0]); err != nil {
				if *differentialAll {
					t.Fatalf("%s is not installed: install the package %s", command[0], name)
				}
				t.Skipf("%s is not installed", name)
			}
			started := time.Now()
			ran := a.run(t, command, allowed)
			t.Logf("figure: %s: %d payloads ran in %d lines, %v", name, len(ran), len(allowed),
				time.Since(started).Round(time.Second))
			for _, line := range ran[:min(len(ran), 40)] {
				t.Errorf("%s runs the payload: %q", name, line)
			}
		})
	}
}

// lines returns the committed lines unchanged, and n lines generated from them.
func (a *arena) lines(t *testing.T, n int, seed uint64) []string {
	t.Helper()
	seeds := readLines(t, "seeds.txt")
	found := readLines(t, "found.txt")
	lines := slices.Concat(found, seeds)
	m := mutator{seeds: slices.Clone(lines), plain: a.allowed(t, lines)}
	for i := range n {
		m.Rand = rand.New(rand.NewPCG(seed, uint64(i)))
		lines = append(lines, m.line())
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// readLines reads lines of shell code, separated by lines of %%.
func readLines(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "differential", name))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n%%\n")
	if len(lines) < 10 {
		t.Fatalf("%s holds %d lines", name, len(lines))
	}
	return lines
}

// An arena is a throw-away project with a payload in it.
type arena struct{ top, project, home, marks string }

func newArena(t *testing.T) *arena {
	t.Helper()
	for _, needed := range []string{"bash", "timeout"} {
		if _, err := exec.LookPath(needed); err != nil {
			t.Skipf("%s is not installed", needed)
		}
	}
	// Not t.TempDir: another user must reach it, below folders that the test owns.
	top, err := os.MkdirTemp("", "differential") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	a := &arena{top: top, project: filepath.Join(top, "project"), home: filepath.Join(top, "home"),
		marks: filepath.Join(top, "marks")}
	for path, mode := range map[string]os.FileMode{
		top: 0o755, a.project: 0o755, filepath.Join(a.project, ".git"): 0o755, a.home: 0o755, a.marks: 0o777,
	} {
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"x.sh": payload, "README.md": "one\ntwo\n", "a": "1\n", "b": "2\n", ".git/HEAD": "ref: refs/heads/main\n",
	} {
		if err := os.WriteFile(filepath.Join(a.project, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := a.command("true").CombinedOutput(); err != nil {
		t.Skipf("namespaces without network are not permitted here: %v: %s", err, out)
	}
	return a
}

// command returns a process in the project, isolated from network and other processes.
func (a *arena) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = a.project
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + a.home, "TMPDIR=" + a.home, "LANG=C.UTF-8", "TERM=dumb",
		"MARKS=" + a.marks,
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC |
			syscall.CLONE_NEWUTS,
		Pdeathsig: syscall.SIGKILL,
	}
	if os.Geteuid() == 0 {
		const nobody = 65534
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		return cmd
	}
	cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
	cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
	cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	return cmd
}

// allowed returns the lines that run unasked in mode default without rules.
func (a *arena) allowed(t *testing.T, lines []string) []string {
	t.Helper()
	bounds, err := place.Open(a.project, place.Options{Home: a.home})
	if err != nil {
		t.Fatal(err)
	}
	rules, err := policy.New(nil, policy.Options{Root: bounds.Root, Home: bounds.Home})
	if err != nil {
		t.Fatal(err)
	}
	j := &judge.Judge{Bounds: bounds, Policy: rules, Home: a.home}
	find := func() (*judge.Judge, error) { return j, nil }
	var allowed []string
	for _, line := range lines {
		input, err := json.Marshal(map[string]string{"command": line})
		if err != nil {
			t.Fatal(err)
		}
		call := umpire.Call{Tool: "Bash", Input: input, Dir: a.project}
		if judge.Decide(find, policy.Query{Call: call, Conditions: policy.Conditions{Mode: umpire.ModeDefault}}, time.Now).Verdict == umpire.Allow {
			allowed = append(allowed, line)
		}
	}
	return allowed
}

// run runs lines with a shell and returns those that ran the payload.
func (a *arena) run(t *testing.T, shell, lines []string) []string {
	t.Helper()
	var wait sync.WaitGroup
	var lock sync.Mutex
	var ran []string
	free := make(chan struct{}, runtime.GOMAXPROCS(0)+1)
	for part := range slices.Chunk(lines, linesPerProcess) {
		free <- struct{}{}
		wait.Go(func() {
			defer func() { <-free }()
			marked, err := a.runPart(shell, part)
			lock.Lock()
			defer lock.Unlock()
			if err != nil {
				t.Error(err)
			}
			ran = append(ran, marked...)
		})
	}
	wait.Wait()
	slices.Sort(ran)
	return ran
}

// runPart runs lines in one process and returns those that ran the payload.
func (a *arena) runPart(shell, lines []string) (ran []string, err error) {
	folder, err := os.MkdirTemp(a.top, "lines")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(folder, 0o755); err != nil {
		return nil, err
	}
	name := func(i int) string { return fmt.Sprintf("%s-%s-%04d", filepath.Base(folder), shell[0], i) }
	for i, line := range append([]string{"./x.sh"}, lines...) {
		if err := os.WriteFile(filepath.Join(folder, name(i)), []byte(line), 0o644); err != nil {
			return nil, err
		}
	}
	if out, err := a.command("bash", append([]string{
		"--norc", "-c", driver, "driver", folder,
	}, shell...)...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the driver: %w: %s", err, out)
	}
	marked := func(name string) bool {
		_, err := os.Stat(filepath.Join(a.marks, name))
		return err == nil
	}
	if !marked(name(0)) {
		return nil, fmt.Errorf("%s: the payload itself left no mark", shell[0])
	}
	for i, line := range lines {
		if marked(name(i + 1)) {
			ran = append(ran, line)
		}
	}
	if marked("unknown") {
		return ran, fmt.Errorf("%s: a payload ran that forgot its line, one of %q", shell[0], lines)
	}
	return ran, nil
}
