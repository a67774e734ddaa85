package host

import (
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/relay"
)

// cursor is Cursor, in the editor and as a program. It reports a shell command twice; the second
// report gets the answer already given to the first.
var cursor = Host{
	Caller: &relay.Cursor, Title: "Cursor",
	Program:  []string{"cursor", "cursor-agent"},
	Settings: Settings{FormatJSON, ".cursor/hooks.json", ".cursor/hooks.json", ""},
	Events: []HookEvent{
		{Name: "preToolUse", Kind: BeforeTool, form: &cursorBefore},
		{
			Name: "beforeShellExecution", Kind: BeforeTool, Again: true, form: &cursorBefore,
			tool: "Shell", single: "command",
		},
		{Name: "beforeMCPExecution", Kind: BeforeTool, Again: true, form: &cursorBefore, quoted: true},
		{
			Name: "beforeReadFile", Kind: BeforeTool, Again: true, form: &cursorBefore,
			tool: "Read", single: "file_path",
		},
		{Name: "postToolUse", Kind: AfterTool},
		{Name: "postToolUseFailure", Kind: AfterFailure},
		{Name: "sessionStart", Kind: SessionStart},
		{Name: "beforeSubmitPrompt", Kind: PromptSent},
		{Name: "stop", Kind: TurnEnd},
		{Name: "sessionEnd", Kind: SessionEnd},
	},
	OtherEvents: []string{
		"afterShellExecution", "afterMCPExecution", "afterFileEdit", "beforeTabFileRead", "afterTabFileEdit",
		"afterAgentResponse", "afterAgentThought", "subagentStart", "subagentStop", "preCompact",
	},
	Marks: [][]string{{"cursor_version"}},
	Tools: []Tool{
		{Name: "Shell", As: "Bash", Dir: "working_directory"},
		{Name: "Read", As: "Read"},
		{Name: "Write", As: "Write"},
		{Name: "Edit", As: "Edit"},
		{Name: "StrReplace", As: "Edit"},
		{Name: "Delete", As: "Delete"},
		{Name: "LS", As: "LS"},
		{Name: "Glob", As: "Glob"},
		{Name: "Grep", As: "Grep"},
		{Name: "WebFetch", As: "WebFetch", Needs: "url"},
		{Name: "WebSearch", As: "WebSearch"},
		{Name: "TodoWrite", As: "TodoWrite"},
		{Name: "Task", As: "Task"},
	},
	Timeout: 600 * time.Second, Unit: time.Second,
	Modes:        []HostMode{{"", Default, SilenceRuns}}, // it may run everything
	StartsClaude: true,
	Holds:        holdsCall,
	Holes: []umpire.Phrase{"it does not tell its mode, so umpire asks wherever its rules say so",
		"its agents in the cloud and completions in the editor are not seen", holeNoRewrite},
	Evidence: Documented, Version: "2026-09",
	fields: fields{
		event: "hook_event_name", session: "conversation_id", dir: "cwd", project: "workspace_roots",
		tool: "tool_name", input: "tool_input", id: "tool_use_id", response: "tool_output", failure: "error_message",
	},
}

// cursorBefore cannot express ask, because some tools ignore it.
var cursorBefore = form{
	decision: "permission", deny: `"deny"`, reason: "user_message", agentReason: "agent_message",
	input: "updated_input", exit: exitBlock,
}
