//go:build interop

package interop

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire/internal/host"
)

// An outcome is the result of a call whose dialog, if any, was answered with no. A
// greater outcome is stricter.
type outcome int

const (
	runs outcome = iota
	asks
	refused
)

func (o outcome) String() string { return [...]string{"runs", "asks", "refused"}[o] }

// A matrixCase is a call that is played in each mode.
type matrixCase struct {
	name string
	call func(*world) toolCall
	// serious calls never run unasked with umpire. For other calls, umpire is never
	// stricter than Claude Code.
	serious bool
	// safe calls may run where Claude Code alone asks: umpire knows their effects, or a
	// person allowed them.
	safe bool
	// only names the session that plays it; "" is the session that plays most calls.
	only string
}

func line(command string) func(*world) toolCall {
	return func(*world) toolCall { return bash("", command) }
}

const untrusted = "untrusted"

var matrixCases = []matrixCase{
	{name: "edit", call: func(w *world) toolCall {
		return toolCall{Tool: "Write", Input: map[string]any{"file_path": w.Path("project/new.txt"), "content": "x\n"}}
	}},
	{name: "mkdir", call: line("mkdir -p src/a")},
	{name: "git commit", call: line("git commit -q -m change")},
	{name: "npm test, trusted", call: line("npm test"), safe: true},
	{name: "npm test, not trusted", call: line("npm test"), serious: true, only: untrusted},
	{name: "outside write", call: line("echo x > ../outside/b"), serious: true},
	{name: "git push", call: line("git push -q origin HEAD"), serious: true},
	{name: "secret", call: line("cat ~/.ssh/id_rsa"), serious: true},
	{name: "unparsed", call: line("if then"), serious: true},
	{name: "eval", call: line(`eval "$(cat x)"`), serious: true},
	{name: "critical", call: line(killHome), serious: true},
}

// matrixModes are all modes that can be chosen on the command line.
var matrixModes = []string{"default", "acceptEdits", "auto", "plan", "dontAsk", "bypassPermissions"}

// readyProject makes the project a clone with a change that is staged, code to run and a
// place to push to.
func (w *world) readyProject() {
	w.Helper()
	w.write("home/.gitconfig", "[user]\n\tname = Ada\n\temail = ada@example.org\n")
	w.write("home/.ssh/id_rsa", "private\n")
	w.write("project/x", "echo evaluated\n")
	w.write("project/package.json", `{"name": "p", "version": "1.0.0", "scripts": {"test": "node test.js", "lint": "node lint.js"}}`+"\n")
	w.write("project/test.js", "console.log('tested')\n")
	w.write("project/lint.js", "console.log('linted')\n")
	w.git("init", "-q", "--bare", w.Path("outside/remote.git"))
	w.git("remote", "add", "origin", w.Path("outside/remote.git"))
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "first")
	w.write("project/staged.txt", "staged\n")
	w.git("add", "staged.txt")
}

func (w *world) git(args ...string) {
	w.Helper()
	if out, code := w.start("git", args...); code != 0 {
		w.Fatalf("git %q: exit %d\n%s", args, code, out)
	}
}

// trustCode trusts the clone's code, as a person does once in a clone.
func (w *world) trustCode() {
	w.Helper()
	if out, code := w.start(w.Umpire, "rules", "trust", "--code"); code != 0 || !strings.Contains(out, "trusted the code of") {
		w.Fatalf("umpire rules trust --code: exit %d\n%s", code, out)
	}
}

// playMatrix plays the cases of a session in a mode, with umpire or without, and returns
// the outcome of each.
func playMatrix(t *testing.T, mode, which string, with bool) map[string]outcome {
	t.Helper()
	m := startModel(t)
	w := newWorld(t, m)
	w.readyProject()
	switch {
	case !with:
		w.noHooks()
	case which != untrusted:
		w.trustCode()
	}
	for _, c := range matrixCases {
		if c.only != which || !with && c.name == "critical" {
			continue
		}
		call := c.call(w)
		call.ID = c.name
		m.Main = append(m.Main, turn{call})
	}
	s := w.hostSession(mode, false)
	if s.mode != mode {
		t.Fatalf("Claude Code runs in %q, want %q", s.mode, mode)
	}
	got := map[string]outcome{}
	for _, turn := range m.Main {
		got[turn[0].ID] = w.became(s, turn[0].ID)
	}
	return got
}

// became returns the outcome of a call. A call that failed with an exit code has run.
func (w *world) became(s session, id string) outcome {
	w.Helper()
	r := w.told(id)
	switch {
	case s.asked[id]:
		return asks
	case r.IsError && !strings.HasPrefix(r.Text, "Exit code"):
		return refused
	}
	return runs
}

// TestClaudeMatrix plays each case in each mode, with umpire and without, and compares the
// outcomes with a table. Three rules apply to every cell: with umpire, a serious call
// never runs unasked; a call that Claude Code alone would not run unasked does so only if
// it is safe; and no other call becomes stricter, except for changes in plan mode.
func TestClaudeMatrix(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	alone, guarded := map[string]map[string]outcome{}, map[string]map[string]outcome{}
	note := func(to map[string]map[string]outcome, mode string, got map[string]outcome) {
		mu.Lock()
		defer mu.Unlock()
		if to[mode] == nil {
			to[mode] = map[string]outcome{}
		}
		maps.Copy(to[mode], got)
	}
	t.Run("sessions", func(t *testing.T) {
		for _, mode := range matrixModes {
			for _, which := range []string{"", untrusted} {
				t.Run(strings.TrimSpace(mode+" "+which), func(t *testing.T) {
					t.Parallel()
					note(guarded, mode, playMatrix(t, mode, which, true))
				})
			}
			t.Run(mode+" without umpire", func(t *testing.T) {
				t.Parallel()
				note(alone, mode, playMatrix(t, mode, "", false))
			})
		}
	})
	if t.Failed() || t.Skipped() || len(alone) == 0 {
		return
	}
	for _, mode := range matrixModes {
		alone[mode]["npm test, not trusted"] = alone[mode]["npm test, trusted"] // for Claude Code they are one
		for _, c := range matrixCases {
			checkCell(t, mode, c, alone[mode], guarded[mode])
		}
	}
	compareGolden(t, "testdata/modes.txt", showMatrix(alone, guarded))
}

func checkCell(t *testing.T, mode string, c matrixCase, alone, guarded map[string]outcome) {
	t.Helper()
	with := guarded[c.name]
	without, played := alone[c.name]
	switch {
	case c.serious && with == runs:
		t.Errorf("%s in %s runs unasked", c.name, mode)
	case c.name == "critical" && with != refused:
		t.Errorf("%s in %s: %s", c.name, mode, with)
	case played && with == runs && without != runs && !c.safe:
		t.Errorf("%s in %s runs unasked with umpire; without it: %s", c.name, mode, without)
	case played && with > without && !c.serious && mode != "plan":
		t.Errorf("%s in %s: %s with umpire, %s without", c.name, mode, with, without)
	}
}

// showMatrix writes the table; a cell has the outcomes without umpire and with it.
func showMatrix(alone, guarded map[string]map[string]outcome) string {
	var text strings.Builder
	fmt.Fprintf(&text, "Claude Code %s: what became of a call without umpire > with umpire.\n\n%-22s", host.ClaudeVersion, "")
	for _, mode := range matrixModes {
		fmt.Fprintf(&text, "  %-18s", mode)
	}
	for _, c := range matrixCases {
		fmt.Fprintf(&text, "\n%-22s", c.name)
		for _, mode := range matrixModes {
			without := "-"
			if o, played := alone[mode][c.name]; played {
				without = o.String()
			}
			fmt.Fprintf(&text, "  %-18s", without+" > "+guarded[mode][c.name].String())
		}
	}
	lines := strings.Split(text.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; run with -update when that is right (-want +got):\n%s", name, diff)
	}
}
