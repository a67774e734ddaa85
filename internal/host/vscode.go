package host

import (
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/relay"
)

// vscode are the agents of Visual Studio Code.
var vscode = Host{
	Caller: &relay.VSCode, Title: "VS Code",
	Program:  []string{"code", "code-insiders"},
	Settings: Settings{FormatJSON, ".copilot/hooks/umpire-vscode.json", ".github/hooks/umpire.json", ""},
	Events: []HookEvent{
		{Name: "PreToolUse", Kind: BeforeTool, form: &qwenBefore},
		{Name: "PostToolUse", Kind: AfterTool},
		{Name: "SessionStart", Kind: SessionStart},
		{Name: "UserPromptSubmit", Kind: PromptSent},
		{Name: "Stop", Kind: TurnEnd},
	},
	OtherEvents: []string{"PreCompact", "SubagentStart", "SubagentStop"},
	Marks:       [][]string{{"hookEventName", "timestamp"}},
	Tools: []Tool{
		{Name: "run_in_terminal", As: "Bash"},
		{Name: "runTerminalCommand", As: "Bash"},
		{Name: "read_file", As: "Read"},
		{Name: "readFile", As: "Read"},
		{Name: "list_dir", As: "LS"},
		{Name: "file_search", As: "Glob", From: "query", To: "pattern"},
		{Name: "grep_search", As: "Grep", From: "query", To: "pattern"},
		{Name: "create_file", As: "Write"},
		{Name: "replace_string_in_file", As: "Edit"},
		{Name: "insert_edit_into_file", As: "Edit"},
		{Name: "editFiles", As: "Edit", From: "files", To: "paths"},
		{Name: "fetch_webpage", As: "WebFetch", Needs: "url"},
		{Name: "manage_todo_list", As: "TodoWrite"},
		{Name: "runSubagent", As: "Task"},
	},
	Timeout: 600 * time.Second, Unit: time.Second,
	Modes: []HostMode{{"", Default, SilenceRuns}}, // tools may be approved beforehand
	Holds: holdsCall,
	Holes: []umpire.Phrase{"it does not tell its mode, so umpire asks wherever its rules say so",
		"a call runs if its hook is late, or killed with its shell", holeNoRewrite},
	Evidence: Documented, Version: "1.110",
	fields: fields{
		event: "hookEventName", session: "sessionId", dir: "cwd",
		tool: "tool_name", input: "tool_input", id: "tool_use_id", response: "tool_response",
	},
}
