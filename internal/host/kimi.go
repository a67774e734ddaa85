package host

import (
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/relay"
)

// kimi is Moonshot's Kimi Code. Its hooks are Claude Code's, but cannot allow.
var kimi = Host{
	Caller: &relay.Kimi, Title: "Kimi Code",
	Program:  []string{"kimi"},
	Settings: Settings{FormatTOML, ".kimi-code/config.toml", "", ""},
	Events: []HookEvent{
		{Name: "PreToolUse", Kind: BeforeTool, form: &qwenBefore},
		{Name: "PostToolUse", Kind: AfterTool},
		{Name: "PostToolUseFailure", Kind: AfterFailure},
		{Name: "SessionStart", Kind: SessionStart},
		{Name: "UserPromptSubmit", Kind: PromptSent},
		{Name: "Stop", Kind: TurnEnd},
		{Name: "SessionEnd", Kind: SessionEnd},
	},
	OtherEvents: []string{"Notification", "PreCompact", "SubagentStart", "SubagentStop", "StopFailure"},
	Marks:       [][]string{{"tool_call_id", "hook_event_name", "!tool_use_id"}},
	Tools: []Tool{
		{Name: "Bash", As: "Bash"},
		{Name: "Read", As: "Read"},
		{Name: "Write", As: "Write"},
		{Name: "Edit", As: "Edit"},
		{Name: "Glob", As: "Glob"},
		{Name: "Grep", As: "Grep"},
		{Name: "FetchURL", As: "WebFetch", Needs: "url"},
		{Name: "WebSearch", As: "WebSearch"},
		{Name: "TodoList", As: "TodoWrite"},
		{Name: "Agent", As: "Task"},
		{Name: "AskUserQuestion", As: "AskUserQuestion", Dialog: true},
	},
	Timeout: 600 * time.Second, Unit: time.Second,
	Modes: []HostMode{{"", Default, SilenceRuns}}, // hooks are not told of its yolo mode
	Holds: holdsCall,
	Holes: []umpire.Phrase{"it does not tell its mode, so umpire asks wherever its rules say so",
		"a call runs if its hook is late, or killed with its shell", holeNoRewrite},
	Evidence: Documented, Version: "2026-11",
	fields: fields{
		event: "hook_event_name", session: "session_id", dir: "cwd",
		tool: "tool_name", input: "tool_input", id: "tool_call_id", response: "tool_output", failure: "error",
	},
}
