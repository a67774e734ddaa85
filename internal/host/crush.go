package host

import (
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/relay"
)

// crush is Charm's Crush.
var crush = Host{
	Caller: &relay.Crush, Title: "Crush",
	Program:  []string{"crush"},
	Settings: Settings{FormatJSON, ".config/crush/crush.json", "crush.json", "XDG_CONFIG_HOME"},
	Events:   []HookEvent{{Name: "PreToolUse", Kind: BeforeTool, form: &crushBefore}},
	Marks:    [][]string{{"event", "tool_name"}},
	Tools: []Tool{
		{Name: "bash", As: "Bash", Dir: "working_dir"},
		{Name: "job_output", As: "BashOutput"},
		{Name: "job_kill", As: "KillShell"},
		{Name: "view", As: "Read"},
		{Name: "write", As: "Write"},
		{Name: "edit", As: "Edit"},
		{Name: "multiedit", As: "Edit"},
		{Name: "ls", As: "LS"},
		{Name: "glob", As: "Glob"},
		{Name: "grep", As: "Grep"},
		{Name: "fetch", As: "WebFetch", Needs: "url"},
		{Name: "web_fetch", As: "WebFetch", Needs: "url"},
		{Name: "sourcegraph", As: "WebSearch"},
		{Name: "web_search", As: "WebSearch"},
		{Name: "todos", As: "TodoWrite"},
		{Name: "agent", As: "Workflow"}, // its actions are not visible
		{Name: "lsp_diagnostics", As: "LSP"},
	},
	Timeout: 600 * time.Second, Unit: time.Second,
	Modes:  []HostMode{{"", Default, SilenceRuns}}, // hooks are not told of crush run and --yolo
	Shells: shellOwn,
	Holds:  holdsRest,
	Holes: []umpire.Phrase{
		"if its hook prints something that is not an answer and exits with 0, the call runs",
		"it does not tell its mode, so umpire asks wherever its rules say so",
		"a result may be taken for that of an equal call", "what its sub-agents do is not seen, so starting one asks",
		holeNoRewrite,
	},
	Evidence: Recorded, Version: "0.96.1",
	fields: fields{event: "event", session: "session_id", dir: "cwd", tool: "tool_name", input: "tool_input"},
}

var crushBefore = form{
	decision: "decision", allow: `"allow"`, deny: `"deny"`, reason: "reason", input: "updated_input", exit: exitBlock,
}
