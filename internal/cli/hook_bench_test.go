package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkHook starts the hooks as an agent does, in turns with cat on the same bytes:
// alone, and through a running gate. It reports the medians as multiples of cat's, also for
// a Go program that copies its input, which is the minimum for Go, and for other languages,
// if installed, in a program that only reads the question and answers.
func BenchmarkHook(b *testing.B) {
	cat, err := exec.LookPath("cat")
	if err != nil {
		b.Skip("no cat to compare with")
	}
	large, small, copier := buildUmpire(b)
	alone, gated := b.TempDir(), b.TempDir()
	serveFor(b, large, gated)
	untilSnapshot(b, small, alone)
	calls := 0
	through := func(program string) func() time.Duration {
		return func() time.Duration {
			calls++
			return timed(b, gated, fmt.Sprint("toolu_", calls), program, asRegistered(gated)...)
		}
	}
	ways := []benchWay{
		{name: "cat", run: func() time.Duration { return timed(b, alone, "x", cat) }},
		{name: "go", run: func() time.Duration { return timed(b, alone, "x", copier) }},
		{name: "umpire-alone", run: func() time.Duration { return timed(b, alone, "x", large, asRegistered(alone)...) }},
		{name: "umpire-gate", run: through(large)},
		{name: "small-alone", run: func() time.Duration { return timed(b, alone, "x", small, asRegistered(alone)...) }},
		{name: "small-gate", run: through(small)},
	}
	for _, peer := range benchPeers {
		if program, err := exec.LookPath(peer[0]); err == nil {
			ways = append(ways, benchWay{name: peer[0], run: func() time.Duration { return timed(b, alone, "x", program, peer[1:]...) }})
		}
	}
	for b.Loop() {
		for i := range ways {
			ways[i].took = append(ways[i].took, ways[i].run())
		}
	}
	base := median(ways[0].took)
	for _, way := range ways {
		b.ReportMetric(float64(median(way.took))/float64(time.Millisecond), way.name+"-ms")
		if way.name != "cat" {
			b.ReportMetric(float64(median(way.took))/float64(base), way.name+"/cat")
		}
	}
}

// BenchmarkHookIdle asks a gate that has had nothing to do for a second, in turns with one that has just answered.
func BenchmarkHookIdle(b *testing.B) {
	large, small, _ := buildUmpire(b)
	home := b.TempDir()
	serveFor(b, large, home)
	calls := 0
	ask := func() time.Duration {
		calls++
		return timed(b, home, fmt.Sprint("toolu_", calls), small, asRegistered(home)...)
	}
	var warm, idle []time.Duration
	for b.Loop() {
		ask()
		warm = append(warm, ask())
		time.Sleep(time.Second)
		idle = append(idle, ask())
	}
	b.ReportMetric(float64(median(idle))/float64(median(warm)), "idle/warm")
	b.ReportMetric(float64(median(idle))/float64(time.Millisecond), "idle-ms")
}

// asRegistered are the arguments of the hook of Claude Code, as init writes them.
func asRegistered(home string) []string {
	return []string{"hook", "claude", "--home", filepath.Join(home, ".umpire"), "--deadline", "595s"}
}

// A benchWay is one way to ask, with how long each time took.
type benchWay struct {
	name string
	run  func() time.Duration
	took []time.Duration
}

// benchPeers are programs that read the question and always allow.
var benchPeers = [][]string{
	{"python3", "-c", "import json,sys; json.load(sys.stdin); print(" + benchAllow + ")"},
	{"node", "-e", "JSON.parse(require('fs').readFileSync(0)); console.log(" + benchAllow + ")"},
	{"jq", "-c", `{hookSpecificOutput:{permissionDecision:"allow"}}`},
	{"bash", "-c", `jq -c '{hookSpecificOutput:{permissionDecision:"allow"}}'`},
}

const benchAllow = `'{"hookSpecificOutput":{"permissionDecision":"allow"}}'`

// copierText is a program that only copies its input.
const copierText = `package main

import (
	"io"
	"os"
)

func main() { io.Copy(os.Stdout, os.Stdin) }
`

// buildUmpire builds both programs in their release form, and one that copies its input.
func buildUmpire(b *testing.B) (large, small, copier string) {
	b.Helper()
	source := filepath.Join(b.TempDir(), "copier.go")
	if err := os.WriteFile(source, []byte(copierText), 0o600); err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	install(b, dir, "umpire", "../../cmd/umpire")
	install(b, dir, "umpire-hook", "../../cmd/umpire-hook")
	install(b, dir, "copier", source)
	return filepath.Join(dir, "umpire"), filepath.Join(dir, "umpire-hook"), filepath.Join(dir, "copier")
}

// install builds a program and copies it to its place, as installing does, because
// files written by the linker take a tenth longer to start.
func install(b *testing.B, dir, name, what string) {
	b.Helper()
	built := filepath.Join(b.TempDir(), name)
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", built, what)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	program, err := os.ReadFile(built)
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), program, 0o755); err != nil {
		b.Fatal(err)
	}
}

// serveFor runs a gate for a home until the benchmark ends.
func serveFor(b *testing.B, program, home string) {
	b.Helper()
	cmd := exec.Command(program, "serve")
	cmd.Dir, cmd.Env, cmd.Stderr = home, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			b.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			b.Error(err)
		}
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(line, "umpire: ready on ") {
		b.Fatalf("%q, %v", line, err)
	}
}

// timed runs a program on a call and returns how long it took.
func timed(b *testing.B, home, id, program string, args ...string) time.Duration {
	b.Helper()
	payload := fmt.Sprintf(`{"session_id":"bench","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash",`+
		`"tool_use_id":%q,"tool_input":{"command":"git status && grep -rn needle . | head"}}`, id)
	cmd := exec.Command(program, args...)
	var out bytes.Buffer
	project := projectIn(b, home)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = project, strings.NewReader(payload), &out, os.Stderr
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "CLAUDE_PROJECT_DIR=" + project}
	started := time.Now()
	err := cmd.Run()
	took := time.Since(started)
	if err != nil || len(args) > 0 && !strings.Contains(out.String(), `"permissionDecision":"allow"`) {
		b.Fatalf("%v: %s", err, &out)
	}
	return took
}

func median(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}
