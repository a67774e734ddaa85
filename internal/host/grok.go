package host

import (
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/relay"
)

// grok is xAI's Grok CLI. It also starts Claude Code's hooks, unless its settings disable this.
var grok = Host{
	Caller: &relay.Grok, Title: "Grok CLI",
	Program:  []string{"grok"},
	Settings: Settings{FormatJSON, ".grok/hooks/umpire.json", ".grok/hooks/umpire.json", ""},
	Events: []HookEvent{
		{Name: "PreToolUse", Kind: BeforeTool, form: &grokBefore},
		{Name: "PostToolUse", Kind: AfterTool},
	},
	OtherEvents: []string{"SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "Notification"},
	Marks:       [][]string{{"toolInput", "workspaceRoot"}},
	Tools: []Tool{
		{Name: "bash", As: "Bash"},
		{Name: "Bash", As: "Bash"},
		{Name: "run_terminal_command", As: "Bash"},
		{Name: "read_file", As: "Read"},
		{Name: "view_file", As: "Read"},
		{Name: "create_file", As: "Write"},
		{Name: "write_file", As: "Write"},
		{Name: "str_replace_editor", As: "Edit"},
		{Name: "search_replace", As: "Edit"},
		{Name: "list_dir", As: "LS"},
		{Name: "grep", As: "Grep"},
		{Name: "todo_write", As: "TodoWrite"},
	},
	Timeout: 60 * time.Second, Unit: time.Second,
	Modes:        []HostMode{{"", Default, SilenceRuns}}, // hooks apply, but are not told of always-approve
	StartsClaude: true,
	Holds:        holdsCall,
	Holes: []umpire.Phrase{"it does not tell its mode, so umpire asks wherever its rules say so",
		"a call runs if its hook is late, or killed with its shell", holeNoRewrite},
	Evidence: Documented, Version: "0.2.106",
	fields: fields{
		event: "hookEventName", session: "sessionId", dir: "cwd", project: "workspaceRoot",
		tool: "toolName", input: "toolInput", id: "toolUseId", response: "toolResult",
	},
}

var grokBefore = form{decision: "decision", deny: `"deny"`, reason: "reason", exit: exitBlock}
