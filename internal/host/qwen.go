package host

import (
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/relay"
)

// qwen is Alibaba's Qwen Code: Gemini CLI's tools, and Claude Code's hooks.
var qwen = Host{
	Caller: &relay.Qwen, Title: "Qwen Code",
	Program:  []string{"qwen"},
	Settings: Settings{FormatJSON, ".qwen/settings.json", ".qwen/settings.json", ""},
	Events: []HookEvent{
		{Name: "PreToolUse", Kind: BeforeTool, form: &qwenBefore},
		{Name: "PostToolUse", Kind: AfterTool},
		{Name: "PostToolUseFailure", Kind: AfterFailure, Ran: true},
		{Name: "SessionStart", Kind: SessionStart},
		{Name: "UserPromptSubmit", Kind: PromptSent},
		{Name: "Stop", Kind: TurnEnd},
		{Name: "SessionEnd", Kind: SessionEnd},
	},
	OtherEvents: []string{
		"PermissionRequest", "Notification", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact",
		"StopFailure",
	},
	Tools:   qwenTools,
	Timeout: 600 * time.Second, Unit: time.Millisecond,
	Modes: []HostMode{
		{"default", Default, SilenceChecks},
		{"auto-edit", AcceptEdits, SilenceChecks}, {"auto_edit", AcceptEdits, SilenceChecks},
		{"plan", Plan, SilenceChecks},
		{"yolo", Bypass, SilenceRuns},
	},
	Shells: shellBash,
	Holds:  holdsAll,
	Holes: []umpire.Phrase{"if its hook prints something that is not an answer and exits with 0, the call runs",
		"no hook runs while an editor drives it by ACP", holeNoRewrite},
	Evidence: Driven, Version: "0.24.4",
	fields: claudeFields,
}

// qwenBefore cannot express allow: Qwen Code's own rules must still apply.
var qwenBefore = form{
	within: [2]string{"hookSpecificOutput"}, event: "hookEventName",
	decision: "permissionDecision", deny: `"deny"`, reason: "permissionDecisionReason", exit: exitBlock,
}

var qwenTools = []Tool{
	{Name: "run_shell_command", As: "Bash", Dir: "directory"},
	{Name: "read_file", As: "Read"},
	{Name: "list_directory", As: "LS"},
	{Name: "glob", As: "Glob"},
	{Name: "grep_search", As: "Grep"},
	{Name: "search_file_content", As: "Grep"},
	{Name: "write_file", As: "Write"},
	{Name: "replace", As: "Edit"},
	{Name: "edit", As: "Edit"},
	{Name: "web_fetch", As: "WebFetch", Needs: "url"},
	{Name: "web_search", As: "WebSearch"},
	{Name: "todo_write", As: "TodoWrite"},
	{Name: "task", As: "Task"},
	{Name: "agent", As: "Task"},
	{Name: "skill", As: "Skill"},
	{Name: "ask_user_question", As: "AskUserQuestion", Dialog: true},
	{Name: "exit_plan_mode", As: "ExitPlanMode", Dialog: true},
}
