package host

import (
	"bytes"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
	"github.com/umpirehq/umpire/shell"
)

// offered are the tools that Claude Code names in its requests to a model, with -p and
// at a terminal, in the release that the table was checked against.
var offered = []string{
	"Agent", "AskUserQuestion", "Bash", "CronCreate", "CronDelete", "CronList", "Edit", "EnterPlanMode", "EnterWorktree", "ExitPlanMode",
	"ExitWorktree", "ListAgents", "Monitor", "NotebookEdit", "Read", "ReportFindings", "ScheduleWakeup", "SendMessage", "Skill", "TaskStop",
	"ToolSearch", "WebFetch", "WebSearch", "Workflow", "Write",
}

// TestOfferedToolsAreKnown: each has a row, and is judged by more than its name.
func TestOfferedToolsAreKnown(t *testing.T) {
	t.Parallel()
	names := offered
	for _, row := range toolRows(&claude) {
		names = append(names, row.Name)
	}
	for _, name := range names {
		e, err := claude.Read(payload(name, `{"command":"ls","file_path":"/w/a","url":"https://go.dev","query":"x"}`))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, ok := claude.tool(name); !ok {
			t.Errorf("%s: no row", name)
		}
		facts, err := policy.FactsOf(e.Call, shell.Env{Dir: "/w"})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, a := range facts.Accesses {
			if a.Reason == "calls a tool that umpire knows by name only" {
				t.Errorf("%s: judged by its name alone, as %s", name, e.Call.Tool)
			}
		}
	}
}

// What Claude Code does for itself does not ask.
func TestBookkeepingIsSafe(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"ToolSearch", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "TaskStop", "TaskOutput", "CronList", "CronCreate", "ScheduleWakeup",
		"SendMessage", "ListAgents", "ReportFindings", "StructuredOutput", "TodoWrite", "KillShell", "BashOutput", "EnterPlanMode",
	} {
		e, err := claude.Read(payload(name, `{"query":"x"}`))
		if err != nil {
			t.Fatal(err)
		}
		facts, err := policy.FactsOf(e.Call, shell.Env{Dir: "/w"})
		if err != nil || facts.Risk() != umpire.Safe {
			t.Errorf("%s: risk %s, %v", name, facts.Risk(), err)
		}
	}
}

// TestForeignPayloadsAreRefused: silence would let the call run.
func TestForeignPayloadsAreRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"codex":                       `{"hook_event_name":"PreToolUse","turn_id":"t","model":"m","tool_name":"Bash","tool_input":{"command":"ls"}}`,
		"Codex":                       `{"hook_event_name":"SessionStart","turn_id":"t","model":"m"}`,
		"gemini":                      `{"hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"ls"}}`,
		"cursor":                      `{"hook_event_name":"beforeShellExecution","cursor_version":"1","command":"ls"}`,
		"copilot":                     `{"sessionId":"s","timestamp":1,"toolName":"bash","toolArgs":"{}"}`,
		"Copilot":                     `{"sessionId":"s","timestamp":1,"source":"new"}`,
		"not an event of Claude Code": `{"hook_event_name":"pretooluse","tool_name":"Bash","tool_input":{"command":"ls"}}`,
	} {
		e, err := claude.Read([]byte(text))
		if err == nil {
			t.Errorf("%s: read as Claude Code's", name)
			continue
		}
		out := claude.Fail(e.Name, err)
		if out.Exit != 2 || !bytes.Contains(out.Stderr, []byte(name)) || !bytes.Contains(out.Stdout, []byte(`"deny"`)) {
			t.Errorf("%s: exit %d, %s%s", name, out.Exit, out.Stdout, out.Stderr)
		}
	}
}
