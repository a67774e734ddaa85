package trees

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
)

var (
	all   = flag.Bool("trees.all", false, "fetch all trees, and run every command in them")
	cache = flag.String("trees.cache", "", "the `folder` in which fetched trees stay (default: in that of the user)")
)

// levels are the levels of autonomy at which every command is decided.
var levels = []string{"medium", "high"}

// seedCommands run with all other tests, in a tree that is made here, with their expected outcomes.
var seedCommands = map[string]string{
	"sh build.sh":       byTrial,
	"gofmt -w .":        byReading,
	"rm -r old":         byTrial,
	"sh hook.sh":        "control_file",
	"sh outside.sh":     "external_directory",
	"curl example.test": "mode",
}

// How a command came to run without a question. Another word is the code of the reason why it asks.
const (
	byReading = "by reading"
	byTrial   = "by a trial"
)

// A world is a home, with an umpire whose user has chosen a level of autonomy.
type world struct {
	program, home string
	env           []string
}

func TestMain(m *testing.M) {
	sandbox.Main() // this program finds out the sandbox's abilities
	if file := os.Getenv(playVariable); file != "" {
		if err := act(file); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	code := m.Run()
	if builtIn != "" {
		_ = os.RemoveAll(builtIn) // the tests have passed or failed already
	}
	os.Exit(code)
}

// TestSeed runs a few commands of each outcome.
func TestSeed(t *testing.T) {
	t.Parallel()
	if !sandbox.Available().Whole() {
		t.Skip("no sandbox on this machine")
	}
	base := folderOutsideTmp(t)
	dir := filepath.Join(base, "tree")
	for name, text := range map[string]string{
		"build.sh": "mkdir -p dist && cat *.go >dist/all", "hook.sh": "echo x >.git/hooks/pre-commit",
		"outside.sh": "echo x >../file", "a.go": "package a\n", "old/a": "x",
	} {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	w := newWorld(t, buildUmpire(t, base), filepath.Join(base, "home"), levels[0])
	commit(t, dir)
	for line, want := range seedCommands {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			if got := w.settle(t, dir, line); got.how != want {
				t.Errorf("%s: %s", got.how, got.why)
			}
		})
	}
}

// TestTrees decides each command like an agent without a sandbox: a command runs if reading it
// allows that. Otherwise it is tried, and its effects are kept if none of them asks.
func TestTrees(t *testing.T) {
	t.Parallel()
	if !*all {
		t.Skip("make trees runs it")
	}
	if !sandbox.Available().Whole() {
		t.Skip("no sandbox on this machine")
	}
	folder := *cache
	if folder == "" {
		user, err := os.UserCacheDir()
		must(t, err)
		folder = filepath.Join(user, "umpire-trees")
	}
	base := folderOutsideTmp(t)
	program := buildUmpire(t, base)
	for _, level := range levels {
		w := newWorld(t, program, filepath.Join(folder, "home-"+level), level)
		results := &table{level: level}
		t.Run(level, func(t *testing.T) {
			for _, one := range readList(t) {
				t.Run(one.name, func(t *testing.T) {
					t.Parallel()
					dir := one.fetch(t, w, filepath.Join(folder, "trees-"+level))
					for _, line := range one.commands {
						results.add(one.name, line, w.settle(t, dir, line))
					}
				})
			}
		})
		results.log(t)
	}
}

// An outcome is how a command was settled, and why it asks.
type outcome struct{ how, why string }

// settle decides a command line, and tries it if the autonomy allows that.
func (w *world) settle(t *testing.T, dir, line string) outcome {
	t.Helper()
	var d umpire.Decision
	w.ask(t, dir, &d, "check", "--json", "--unheld", "--", line)
	switch {
	case d.Verdict == umpire.Allow:
		return outcome{how: byReading}
	case d.Verdict == umpire.Deny || d.Trial != umpire.TrialFirst:
		return outcome{string(d.ReasonCode), d.Reason.String()}
	}
	var tried struct {
		Outcome  string          `json:"outcome"`
		Decision umpire.Decision `json:"decision"`
		Limit    string          `json:"limit"`
		Differs  []any           `json:"differs"`
	}
	output := w.ask(t, dir, &tried, "try", "--json", "--discard", "--", line)
	if tried.Decision.Verdict == umpire.Allow || tried.Decision.ReasonCode == "" && tried.Outcome == "kept" { // nothing changed
		return outcome{how: byTrial}
	}
	why := tried.Decision.Reason.String()
	if tried.Limit != "" || len(tried.Differs) > 0 {
		why = fmt.Sprint(tried.Limit, tried.Differs)
	}
	return outcome{string(tried.Decision.ReasonCode), why + " " + lastLine(output)}
}

// ask runs umpire, parses its JSON and returns the other output.
func (w *world) ask(t *testing.T, dir string, answer any, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.program, args...)
	cmd.Dir, cmd.Env = dir, w.env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run() // the exit code is the command's, or says that it asks
	if jsonErr := json.Unmarshal(stdout.Bytes(), answer); jsonErr != nil {
		t.Fatalf("%q: %v, %v\n%s\n%s", args, jsonErr, err, &stdout, &stderr)
	}
	return stderr.String()
}

// A table collects the results of the commands at one level.
type table struct {
	level string
	mu    sync.Mutex
	rows  []string
	how   map[string]int
}

func (r *table) add(tree, line string, o outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.how == nil {
		r.how = map[string]int{}
	}
	if o.why != "" {
		first, _, _ := strings.Cut(line, "\n")
		r.rows = append(r.rows, fmt.Sprintf("%s: %s: %s: %s", tree, first, o.how, o.why))
		o.how = "asks"
	}
	r.how[o.how]++
}

// log prints the share that was settled, and each command that was not.
func (r *table) log(t *testing.T) {
	t.Helper()
	settled := r.how[byReading] + r.how[byTrial]
	if settled+r.how["asks"] == 0 {
		return
	}
	slices.Sort(r.rows)
	t.Logf("figure: %d commands over ten trees at autonomy %s: %.1f %% without a question (%d by reading, %d by a trial), %d ask",
		settled+r.how["asks"], r.level, 100*float64(settled)/float64(settled+r.how["asks"]), r.how[byReading], r.how[byTrial], r.how["asks"])
	for _, row := range r.rows {
		t.Log("figure:   asks: " + row)
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
