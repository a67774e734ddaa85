package host

import (
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/relay"
)

// kiro is Kiro, the editor and the program. Only the exit code decides.
var kiro = Host{
	Caller: &relay.Kiro, Title: "Kiro",
	Program:  []string{"kiro-cli", "kiro"},
	Settings: Settings{FormatJSON, ".kiro/hooks/umpire.json", ".kiro/hooks/umpire.json", ""},
	Events: []HookEvent{
		{Name: "PreToolUse", Kind: BeforeTool, form: &exitOnly},
		{Name: "preToolUse", Kind: BeforeTool, form: &exitOnly},
		{Name: "PostToolUse", Kind: AfterTool},
		{Name: "postToolUse", Kind: AfterTool},
	},
	OtherEvents: []string{
		"agentSpawn", "userPromptSubmit", "stop", "AgentSpawn", "UserPromptSubmit", "Stop", "SessionStart",
	},
	Tools: []Tool{
		{Name: "execute_bash", As: "Bash"},
		{Name: "shell", As: "Bash"},
		{Name: "fs_read", As: "Read", Needs: "path"},
		{Name: "read", As: "Read", Needs: "path"},
		{Name: "fs_write", As: "Write"},
		{Name: "write", As: "Write"},
		{Name: "glob", As: "Glob"},
		{Name: "grep", As: "Grep"},
		{Name: "thinking", As: "TodoRead"},
		{Name: "todo_list", As: "TodoWrite"},
		{Name: "introspect", As: "ToolSearch"},
	},
	Timeout: 600 * time.Second, Unit: time.Second,
	Modes: []HostMode{{"", Default, SilenceRuns}}, // tools may be trusted beforehand
	Holds: holdsCall,
	Holes: []umpire.Phrase{"it does not tell its mode, so umpire asks wherever its rules say so",
		"a result may be taken for that of an equal call", "a call runs if its hook is late, or killed with its shell",
		holeNoRewrite},
	Evidence: Documented, Version: "3.0",
	fields: fields{
		event: "hook_event_name", session: "session_id", dir: "cwd",
		tool: "tool_name", input: "tool_input", response: "tool_response",
	},
}

// exitOnly is for hosts that read only the exit code: exit 2 denies, and the model reads stderr.
var exitOnly = form{exit: exitBlock}
