//go:build interop

package interop

import (
	"fmt"
	"strings"
	"testing"
)

func bash(id, command string) toolCall {
	return toolCall{ID: id, Tool: "Bash", Input: map[string]any{"command": command, "description": "a step"}}
}

// killHome would delete a home, which here is a temporary one.
const killHome = "rm -rf ~/"

// critical is how umpire's denial of it ends.
const critical = "No approval can lift this"

func TestClaudeRunsWhatIsSafe(t *testing.T) {
	t.Parallel()
	w := newWorld(t, startModel(t, turn{bash("list", "ls")}, turn{bash("make", "touch made")}))
	w.allowsTouch()
	w.claude()
	w.ran("list")
	if r := w.told("list"); !strings.Contains(r.Text, "README.md") {
		t.Errorf("ls said %q", r.Text)
	}
	w.ran("make")
	if !w.Exists("project/made") {
		t.Error("a command that a rule of umpire's allows did not run")
	}
}

func TestClaudeStopsDanger(t *testing.T) {
	t.Parallel()
	w := newWorld(t, startModel(t, turn{bash("kill", killHome)}, turn{bash("scratch", "rm -rf ./scratch")}))
	w.claudeAllows()
	w.write("project/scratch/file", "x")
	w.claude()
	w.stopped("kill", critical)
	w.stopped("scratch", "umpire: deletes scratch")
	if !w.Exists("home/.claude") || !w.Exists("project/scratch/file") {
		t.Error("something was deleted")
	}
}

func TestClaudeStopsOneOfThree(t *testing.T) {
	t.Parallel()
	w := newWorld(t, startModel(t, turn{bash("one", "touch one"), bash("two", killHome), bash("three", "touch three")}))
	w.allowsTouch()
	w.claude()
	w.ran("one")
	w.stopped("two", critical)
	w.ran("three")
	if !w.Exists("project/one") || !w.Exists("project/three") || !w.Exists("home/.claude") {
		t.Error("the wrong calls ran")
	}
}

func TestClaudeStopsWritesOutside(t *testing.T) {
	t.Parallel()
	m := startModel(t)
	w := newWorld(t, m)
	w.claudeAllows()
	m.Main = []turn{
		{{ID: "write", Tool: "Write", Input: map[string]any{"file_path": w.Path("outside/a"), "content": "x"}}},
		{bash("echo", "echo x > ../outside/b")},
	}
	w.claude()
	w.stopped("write", "outside the project")
	w.stopped("echo", "outside the project")
	if w.Exists("outside/a") || w.Exists("outside/b") {
		t.Error("a file was written outside the project")
	}
}

func TestClaudeJudgesBackgroundCommands(t *testing.T) {
	t.Parallel()
	background := func(id, command string) toolCall {
		c := bash(id, command)
		c.Input["run_in_background"] = true
		return c
	}
	w := newWorld(t, startModel(t, turn{background("bad", "mkdir bad; "+killHome)}, turn{background("good", "ls")}))
	w.claudeAllows()
	w.claude()
	w.stopped("bad", critical)
	w.ran("good")
	if w.Exists("project/bad") {
		t.Error("the command started before it was judged")
	}
}

func TestClaudeJudgesSubAgents(t *testing.T) {
	t.Parallel()
	m := startModel(t, turn{{ID: "sub", Tool: "Agent", Input: map[string]any{
		"description": "a part", "prompt": subMark + ": go on", "subagent_type": "general-purpose",
	}}})
	m.Sub = []turn{{bash("list", "ls")}, {bash("kill", killHome)}}
	w := newWorld(t, m)
	w.claudeAllows()
	w.claude()
	w.ran("list")
	w.stopped("kill", critical)
	if !w.Exists("home/.claude") {
		t.Error("the sub-agent's call ran")
	}
}

// TestClaudeBlocksWithoutUmpire covers failures that umpire cannot handle: it is
// missing or broken. Then only onFailure stops a call. The last rows show its limit:
// any output that is not JSON. This is why umpire's denials never rely on JSON alone.
func TestClaudeBlocksWithoutUmpire(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, program string
		stops         bool
	}{
		{"is gone", "", true},
		{"crashes", "#!/bin/sh\nexit 1\n", true},
		{"is killed", "#!/bin/sh\nkill -9 $$\n", true},
		{"hangs", "#!/bin/sh\nread -r payload\ncase $payload in *'\"PreToolUse\"'*) exec sleep 60;; esac\n", true},
		{"answers in other words", "#!/bin/sh\necho '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"no\"}}'\n", true},
		{"answers half", "#!/bin/sh\necho '{\"hookSpecificOutput\":'\n", false},
		{"babbles", "#!/bin/sh\necho hello\n", false},
	} {
		for _, block := range []bool{true, false} {
			t.Run(fmt.Sprintf("umpire %s, block %v", tt.name, block), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, startModel(t, turn{bash("make", "touch made")}))
				w.claudeAllows()
				settings := strings.ReplaceAll(w.settings(), `"timeout": 600`, `"timeout": 2`)
				if !block {
					settings = strings.ReplaceAll(settings, `"onFailure": "block"`, `"onFailure": "continue"`)
				}
				w.write("home/.claude/settings.json", settings)
				w.replaceUmpire(tt.program)
				w.claude()
				stops := tt.stops && block
				if r := w.told("make"); r.IsError != stops || w.Exists("project/made") == stops {
					t.Errorf("error %v, ran %v, want it stopped: %v", r.IsError, w.Exists("project/made"), stops)
				}
			})
		}
	}
}

func TestClaudePlanModeHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, startModel(t, turn{bash("list", "ls")}, turn{bash("make", "touch made")}))
	w.allowsTouch()
	w.claude("--permission-mode", "plan")
	w.ran("list")
	w.stopped("make", "plan")
	if w.Exists("project/made") {
		t.Error("an allow of umpire's overrode plan mode")
	}
}

func TestDoctorNamesWhatSwitchesHooksOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, startModel(t, turn{bash("make", "touch made")}))
	if out, code := w.start(w.Umpire, "doctor", "claude"); code != 0 {
		t.Fatalf("doctor before: exit %d\n%s", code, out)
	}
	w.claudeAllows()
	w.write("project/.claude/settings.json", "{\n  \"disableAllHooks\": true\n}\n")
	out, code := w.start(w.Umpire, "doctor", "claude")
	if code != 1 || !strings.Contains(out, w.Path("project/.claude/settings.json:2: disableAllHooks")) {
		t.Errorf("doctor: exit %d\n%s", code, out)
	}
	w.claude()
	if !w.Exists("project/made") {
		t.Error("the hooks ran in spite of disableAllHooks: the finding is wrong for this release")
	}
}

// TestClaudeDropsCommentedSettings is why umpire setup refuses such a file.
func TestClaudeDropsCommentedSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t, startModel(t, turn{bash("make", "touch made")}))
	w.write("home/.claude/settings.json", strings.Replace(w.settings(), "{\n", "{\n  // mine\n", 1))
	out, code := w.start(w.Umpire, "doctor", "claude")
	if code != 1 || !strings.Contains(out, w.Path("home/.claude/settings.json:2: ")) {
		t.Errorf("doctor: exit %d\n%s", code, out)
	}
	w.claude("--allowedTools", "Bash")
	if !w.Exists("project/made") {
		t.Error("the hooks ran in spite of the comment: the finding is wrong for this release")
	}
}

func TestUmpireAsksInsteadOfClaude(t *testing.T) {
	t.Parallel()
	w := newWorld(t, startModel(t, turn{bash("make", "touch ../outside/made")}))
	w.write("project/.claude/settings.json", `{"disableAllHooks": true}`)
	w.claudeAllows()
	w.claude("--setting-sources", "user")
	w.stopped("make", "outside the project")
	if w.Exists("outside/made") {
		t.Error("the advice of umpire doctor does not hold: the project's settings still count")
	}
}
