//go:build unix

package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/files/sample"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/shell"
)

var allClones = flag.Bool("clones.all", false, "open every hostile clone in every mode, and print what was counted")

// seedClones and seedWays are tried with all other tests; the rest takes minutes. With -short, only
// the first clone is tried.
var (
	seedClones = []string{"git_fsmonitor", "npm_scripts", "umpire_files"}
	seedWays   = []string{"run medium", "hook auto"}
)

// reportedWay runs calls that would ask, because a person chose bypass. Its figures are only reported.
const reportedWay = "run bypass"

var cloneWays = []string{
	"run default", "run auto", "run ask", "run reject", "run plan", reportedWay,
	"hook default", "hook acceptEdits", "hook auto",
	"run medium", "run high", "hook medium", "hook high",
}

// In any mode, a clone's own code does not run outside the sandbox, no byte reaches its listener,
// and no secret enters the conversation. This covers umpire's own agent, and Claude Code with the
// hook before the clone's code is trusted. At a level of autonomy, its code runs in trials. Without
// umpire each clone succeeds, which proves that the test has something to block.
func TestClones(t *testing.T) {
	t.Parallel()
	if !sandbox.Available().Whole() {
		t.Skip("no sandbox on this machine")
	}
	for _, needed := range []string{"bash", "git", "make"} {
		if _, err := exec.LookPath(needed); err != nil {
			t.Skipf("%s is not installed", needed)
		}
	}
	results := &cloneTable{}
	if *allClones {
		t.Cleanup(func() { t.Log("\n" + results.String()); results.logFigures(t) })
	}
	seeds := sample.Of(t, 1, seedClones)
	for _, c := range readClones(t) {
		if !*allClones && !slices.Contains(seeds, c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			t.Run("nothing", func(t *testing.T) { t.Parallel(); c.unguarded(t, results) })
			for _, way := range cloneWays {
				if *allClones || slices.Contains(seedWays, way) {
					t.Run(way, func(t *testing.T) { t.Parallel(); c.guarded(t, way, results) })
				}
			}
		})
	}
}

// unguarded runs the calls without umpire, to prove that the clone is hostile.
func (c clone) unguarded(t *testing.T, results *cloneTable) {
	o := c.open(t)
	r := cloneResult{clone: c.name, way: "nothing"}
	for _, call := range c.calls {
		out, _ := o.bash(call) // most of them fail
		r.ran++
		r.secrets += countSecrets(out)
	}
	r.count(t, o)
	results.add(r)
	if r.outside == 0 && r.sent == 0 && r.secrets == 0 {
		t.Error("the clone does nothing that is to be held back")
	}
}

func (c clone) guarded(t *testing.T, way string, results *cloneTable) {
	o := c.open(t)
	r := cloneResult{clone: c.name, way: way}
	agent, mode, _ := strings.Cut(way, " ")
	if slices.Contains(config.LevelNames(), mode) {
		o.mustRun(t, "umpire autonomy "+mode)
		mode = "default"
	}
	if agent == "run" {
		o.runAgent(t, mode, &r)
	} else {
		o.askHook(t, mode, &r)
	}
	if c.person != "" {
		_, _ = o.bash(c.person)
	}
	r.count(t, o)
	results.add(r)
	if way == reportedWay {
		return
	}
	if r.outside != 0 || r.sent != 0 || r.secrets != 0 {
		payload, _ := os.ReadFile(filepath.Join(o.top, "marks", "payload"))
		t.Errorf("%d outside of the sandbox, %d sent, %d secrets seen, by %q\n%s", r.outside, r.sent, r.secrets, r.blame, payload)
	}
}

// runAgent gives the built-in agent all calls, each in a separate message.
func (o *opened) runAgent(t *testing.T, mode string, r *cloneResult) {
	type call struct {
		ID    string            `json:"id"`
		Tool  string            `json:"tool"`
		Input map[string]string `json:"input"`
	}
	type turn struct {
		Calls []call `json:"calls"`
	}
	var turns []turn
	for i, line := range o.calls {
		turns = append(turns, turn{[]call{{fmt.Sprint("c", i), "Bash", map[string]string{"command": line}}}})
	}
	turns = append(turns, turn{[]call{{"r1", "Read", map[string]string{"file_path": "docs/notes.md"}}}},
		turn{[]call{{"g1", "Grep", map[string]string{"pattern": "KEY"}}}})
	script, err := json.Marshal(turns)
	if err != nil {
		t.Fatal(err)
	}
	o.write(t, filepath.Join(o.top, "model.json"), string(script), 0o600)
	log := filepath.Join(o.top, "model.log")
	args := []string{"run", "--model", "script:" + filepath.Join(o.top, "model.json"), "--model-log", log, "--permission-mode", mode, "look at this project"}
	if mode == "bypass" {
		args = append(args, "--allow-bypass")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "umpire", args...)
	cmd.Dir, cmd.Env = o.dir, o.env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	_ = cmd.Run() // 2 if a call was denied
	for line := range strings.Lines(stderr.String()) {
		switch {
		case strings.HasPrefix(line, "[denied]"):
			r.stopped++
		case strings.HasPrefix(line, "[ok]"), strings.HasPrefix(line, "[error]"):
			r.ran++
		}
	}
	if r.stopped+r.ran != len(turns) && mode != "bypass" { // there a call may be ended for its time
		t.Errorf("%d calls were denied and %d ran, of %d:\n%s", r.stopped, r.ran, len(turns), &stderr)
	}
	seen, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	r.secrets += countSecrets(string(seen))
	r.outside += o.marks(t, "started")
}

// askHook passes each call to the hook as Claude Code does, and runs those that it does
// not stop. Silence counts as running, as in a mode that never asks.
func (o *opened) askHook(t *testing.T, mode string, r *cloneResult) {
	for _, line := range o.calls {
		if line := o.askAbout(t, mode, line, ""); line != "" {
			o.runAllowed(t, line, r)
			continue
		}
		r.stopped++
	}
	for _, variable := range o.environment {
		if line := o.askAbout(t, mode, o.calls[0], o.fill(variable)); line != "" {
			o.runAllowed(t, variable+" "+line, r)
		}
	}
}

func (o *opened) runAllowed(t *testing.T, line string, r *cloneResult) {
	before := o.payloads(t)
	r.ran++
	tried := strings.Contains(line, " exec ticket-")
	if tried {
		r.tried++
		line = "eval " + shell.Quote(line) + " && pwd -P >/dev/null" // as Claude Code does
	}
	out, err := o.bash(line)
	if exit, failed := errors.AsType[*exec.ExitError](err); failed && tried && exit.ExitCode() == app.ExitAsks {
		r.held++
	} else if failed && tried && exit.ExitCode() == app.ExitRefused {
		t.Errorf("%s: %s", line, out)
	}
	seen := countSecrets(out)
	r.secrets += seen
	if o.payloads(t) > before || seen > 0 {
		r.blame = append(r.blame, line)
	}
}

// calls counts the calls of all tests, to give each a unique id.
var calls atomic.Int64

// askAbout returns the command that the hook lets run in place of line, or "" if it denies or asks.
// A variable is one that the host took from the clone's settings, for a hook that was started by
// hand.
func (o *opened) askAbout(t *testing.T, mode, line, variable string) string {
	payload, err := json.Marshal(map[string]any{
		"session_id": "s", "permission_mode": mode, "hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": o.dir,
		"tool_use_id": fmt.Sprint("t", calls.Add(1)), "tool_input": map[string]string{"command": line, "description": "look"},
	})
	if err != nil {
		t.Fatal(err)
	}
	args, env := []string{"hook", "claude", "--home", filepath.Join(o.home, ".umpire")}, append(slices.Clone(o.env), "CLAUDE_PROJECT_DIR="+o.dir)
	if variable != "" {
		args, env = args[:2], append(env, variable)
	}
	cmd := exec.Command("umpire", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = o.dir, env, bytes.NewReader(payload)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if cmd.ProcessState.ExitCode() == 2 {
			return ""
		}
		t.Fatalf("%s: %v %s %s", line, err, out, &stderr)
	}
	if len(bytes.TrimSpace(out)) == 0 {
		return line
	}
	var answer struct {
		Output struct {
			Decision string `json:"permissionDecision"`
			Input    struct {
				Command string `json:"command"`
			} `json:"updatedInput"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(out, &answer); err != nil || answer.Output.Decision == "" {
		t.Fatalf("%s: %v %s", line, err, out)
	}
	if answer.Output.Decision != "allow" {
		return ""
	}
	return cmp.Or(answer.Output.Input.Command, line)
}

func countSecrets(text string) int {
	return strings.Count(text, personKey) + strings.Count(text, personToken)
}

// A cloneResult is the result of opening one clone in one way.
type cloneResult struct {
	clone, way               string
	ran, stopped             int
	tried, held              int // by a hook that rewrites: in trials, and of those not kept
	inside, outside, secrets int // runs of the clone's code, and secrets that leaked
	sent                     int64
	blame                    []string
}

func (r *cloneResult) count(t *testing.T, o *opened) {
	outside := o.payloads(t)
	r.inside = max(o.ran()-outside, 0)
	r.outside += outside
	r.sent = o.sent(t)
}

// A cloneTable collects results.
type cloneTable struct {
	lock sync.Mutex
	rows []cloneResult
}

func (c *cloneTable) add(r cloneResult) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.rows = append(c.rows, r)
}

func (c *cloneTable) String() string {
	c.lock.Lock()
	defer c.lock.Unlock()
	slices.SortFunc(c.rows, func(a, b cloneResult) int { return strings.Compare(a.clone+" "+a.way, b.clone+" "+b.way) })
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "clone\topened with\tran\tstopped\tcode held\tcode outside\tsent\tsecrets\t")
	for _, r := range c.rows {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t\n", r.clone, r.way, r.ran, r.stopped, r.inside, r.outside, r.sent, r.secrets)
	}
	_ = w.Flush()
	return text.String()
}

// logFigures sums up each way of opening the clones.
func (c *cloneTable) logFigures(t *testing.T) {
	sums := map[string]cloneResult{}
	clones := map[string]int{}
	for _, r := range c.rows {
		sum := sums[r.way]
		sum.ran, sum.stopped = sum.ran+r.ran, sum.stopped+r.stopped
		sum.tried, sum.held = sum.tried+r.tried, sum.held+r.held
		sum.outside, sum.sent, sum.secrets = sum.outside+r.outside, sum.sent+r.sent, sum.secrets+r.secrets
		sums[r.way] = sum
		clones[r.way]++
	}
	for _, way := range slices.Sorted(maps.Keys(sums)) {
		r := sums[way]
		trials := ""
		if r.tried > 0 {
			trials = fmt.Sprintf(" (%d in trials, %d of them held)", r.tried, r.held)
		}
		t.Logf("figure: %d clones, %s: %d calls ran%s, %d stopped; %d programs outside of the sandbox, %d bytes sent, %d secrets seen",
			clones[way], way, r.ran, trials, r.stopped, r.outside, r.sent, r.secrets)
	}
}
