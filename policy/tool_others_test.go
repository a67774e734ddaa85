package policy

import (
	"encoding/json"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell"
)

// If JudgesOthers returns false, only rules with that very name judge the tool.
func TestJudgesOthers(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string]bool{
		"Read": true, "LS": true, "Edit": true, "WebFetch": true, "Bash": true, "GitCommit": true, "*": true, "mcp__*": true, "mcp__s": true,
		"Task": false, "TodoWrite": false, "mcp__s__t": false, "Nothing": false,
	} {
		if got := JudgesOthers(tool); got != want {
			t.Errorf("%s: %t", tool, got)
		}
	}
}

// TestSubAgentsChooseNoMode: an agent must not decide who is asked about its sub-agents.
func TestSubAgentsChooseNoMode(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]umpire.Verdict{
		`{"prompt":"x"}`: umpire.Allow, `{"prompt":"x","mode":"default"}`: umpire.Allow, `{"prompt":"x","mode":"plan"}`: umpire.Allow,
		`{"prompt":"x","mode":"bypassPermissions"}`: umpire.Ask, `{"prompt":"x","mode":"acceptEdits"}`: umpire.Ask,
		`{"prompt":"x","permissionMode":"auto"}`: umpire.Ask, `{"prompt":"x","mode":"yolo"}`: umpire.Ask,
	} {
		call := umpire.Call{Tool: "Task", Input: json.RawMessage(input)}
		facts, err := FactsOf(call, shell.Env{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := New(nil, testOptions)
		if err != nil {
			t.Fatal(err)
		}
		if d := Decide(p, Query{Call: call, Facts: facts, Conditions: Conditions{Mode: umpire.ModeDefault}}); d.Verdict != want {
			t.Errorf("%s: %s %q, want %s", input, d.Verdict, d.Reason, want)
		}
	}
}
