package rulefile

import (
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
)

func hooksFile(entries string) string {
	return `{"version": 1, "hooks": {"PreToolUse": [` + entries + `]}}`
}

// MP-32: a hook that names no timeout has five seconds.
func TestHooksAreRead(t *testing.T) {
	t.Parallel()
	l := userLayer(t, `{"version": 1, "hooks": {
 "PreToolUse": [
  {"id": "h1", "toolMatch": "Edit|mcp__*", "command": "./check.sh", "timeout": 3000, "onFailure": "skip"},
  {"command": "true"}],
 "PostToolUse": [{"id": "after", "toolMatch": "Bash", "command": "./log.sh", "onFailure": "block"}]}}`)
	set := Load([]Layer{l}, nil, testOptions())
	if len(set.Hooks) != 3 || set.Files[0].Hooks != 3 || set.Files[0].Health != HealthOK {
		t.Fatalf("got %+v, file %+v", set.Hooks, set.Files[0])
	}
	first, second, third := set.Hooks[0], set.Hooks[1], set.Hooks[2]
	want := Hook{
		ID: "h1", Event: PreToolUse, ToolMatch: "Edit|mcp__*", Command: "./check.sh", Timeout: 3 * time.Second, Skip: true,
		Source: umpire.SourceUser, File: l.Path, Line: 3,
	}
	if first != want {
		t.Errorf("got %+v, want %+v", first, want)
	}
	if !strings.HasPrefix(second.ID, "hook-") || second.Limit() != 5*time.Second || second.Skip || second.Tools()[0] != "*" {
		t.Errorf("a hook with a command alone: %+v", second)
	}
	if third.Event != PostToolUse || third.Skip || third.Line != 5 {
		t.Errorf("got %+v", third)
	}
}

// A faulty hook stays in its place, so the calls that it should have checked ask.
func TestFaultyHooksStay(t *testing.T) {
	t.Parallel()
	for entry, why := range map[string]string{
		`{"toolMatch": "Edit"}`:                                        "command is missing",
		`{"toolMatch": "Edit", "command": 7}`:                          "command: want a string",
		`{"toolMatch": "Edit", "command": " "}`:                        "command is missing",
		`{"toolMatch": "Edit", "command": "x", "timeout": 0}`:          "timeout",
		`{"toolMatch": "Edit", "command": "x", "timeout": "5s"}`:       "timeout",
		`{"toolMatch": "Edit", "command": "x", "timeout": 99999999}`:   "timeout",
		`{"toolMatch": "Edit", "command": "x", "onFailure": "ignore"}`: `onFailure "ignore"`,
		`{"toolMatch": "Edit", "command": "x", "command": "y"}`:        "duplicate key",
		`{"toolMatch": "Edit.*", "command": "x"}`:                      "not a regular expression",
		`{"toolMatch": "Edit|", "command": "x"}`:                       "toolMatch",
		`"x"`:                                                          "hook: want an object, not a string",
	} {
		set := Load([]Layer{userLayer(t, hooksFile(entry))}, nil, testOptions())
		if len(set.Hooks) != 1 || !strings.Contains(set.Hooks[0].Fault, why) {
			t.Errorf("%s: got %+v, want the fault %q", entry, set.Hooks, why)
			continue
		}
		f := set.Files[0]
		if f.Health != HealthDegraded || len(f.Problems) != 1 || f.Problems[0].Line != 1 {
			t.Errorf("%s: %v %v", entry, f.Health, f.Problems)
		}
		wide := set.Hooks[0].ToolMatch == ""
		if readable := strings.Contains(entry, `"Edit"`); readable == wide {
			t.Errorf("%s: it is about %q", entry, set.Hooks[0].Tools())
		}
	}
}

// The hooks of a clone sleep until the file is trusted, and again when it changes.
func TestHooksOfAProjectNeedTrust(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	l, o := Layer{Source: umpire.SourceProject, Root: root, Path: root + "/.umpire/permissions.json"}, testOptions()
	write(t, l.Path, hooksFile(`{"id": "h", "command": "./x"}`))
	o.Trust = Trust{Path: t.TempDir() + "/trust.json"}
	asleep := func(when string, want bool) {
		t.Helper()
		set := Load([]Layer{l}, nil, o)
		f := set.Files[0]
		if got := len(set.Hooks) == 0 && len(f.AsleepHooks()) == 1 && f.Untrusted(); got != want {
			t.Errorf("%s: hooks %v, asleep %v", when, set.Hooks, f.AsleepHooks())
		}
	}
	asleep("at first", true)
	if err := o.Trust.Grant(l.Root, l.Path, Load([]Layer{l}, nil, o).Files[0].Hash); err != nil {
		t.Fatal(err)
	}
	asleep("trusted", false)
	write(t, l.Path, hooksFile(`{"id": "h", "command": "./y"}`))
	asleep("changed", true)
}
