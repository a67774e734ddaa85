package host

import (
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/relay"
)

// gemini is Google's Gemini CLI. Its payloads contain neither a mode nor ids, and a hook's allow
// has no effect.
var gemini = Host{
	Caller: &relay.Gemini, Title: "Gemini CLI",
	Program:  []string{"gemini"},
	Settings: Settings{FormatJSON, ".gemini/settings.json", ".gemini/settings.json", ""},
	Events: []HookEvent{
		{Name: "BeforeTool", Kind: BeforeTool, form: &geminiBefore},
		{Name: "AfterTool", Kind: AfterTool},
		{Name: "SessionStart", Kind: SessionStart},
		{Name: "BeforeAgent", Kind: PromptSent},
		{Name: "AfterAgent", Kind: TurnEnd},
		{Name: "SessionEnd", Kind: SessionEnd},
	},
	OtherEvents: []string{"BeforeModel", "AfterModel", "BeforeToolSelection", "PreCompress", "Notification"},
	Tools:       geminiTools,
	Timeout:     600 * time.Second, Unit: time.Millisecond,
	Modes:  []HostMode{{"", Default, SilenceRuns}}, // it may be in its yolo mode
	Shells: shellBash,
	Holds:  holdsAll,
	Folders: []Folder{
		{Root: rootSettings, Pattern: "tmp/*/plans/*.md", Writes: true, Plan: true, Why: "the plan of plan mode"},
		{Root: rootSettings, Pattern: "tmp/*/tool-outputs/**", Why: "results too long for the conversation"},
	},
	Holes: []umpire.Phrase{
		"if its hook prints something that is not an answer and exits with 0, the call runs",
		"it does not tell its mode, so umpire asks wherever its rules say so", holeAskedAgain,
		"a result may be taken for that of an equal call", "no hook runs while an editor drives it by ACP",
		"commands are tried only in its yolo mode",
	},
	Evidence: Driven, Version: "0.61.0",
	fields: fields{
		event: "hook_event_name", session: "session_id", dir: "cwd",
		tool: "tool_name", input: "tool_input", response: "tool_response.returnDisplay",
		server: "mcp_context.server_name", serverTool: "mcp_context.tool_name",
	},
}

var geminiBefore = form{
	decision: "decision", deny: `"deny"`, reason: "reason",
	input: "tool_input", inputWithin: "hookSpecificOutput", exit: exitBlock,
}

var geminiTools = []Tool{
	{Name: "run_shell_command", As: "Bash", Dir: "dir_path"},
	{Name: "read_file", As: "Read"},
	{Name: "list_directory", As: "LS", From: "dir_path", To: "path"},
	{Name: "glob", As: "Glob", From: "dir_path", To: "path"},
	{Name: "grep_search", As: "Grep", From: "dir_path", To: "path"},
	{Name: "search_file_content", As: "Grep", From: "dir_path", To: "path"},
	{Name: "write_file", As: "Write"},
	{Name: "replace", As: "Edit"},
	{Name: "web_fetch", As: "WebFetch", Needs: "url"},
	{Name: "google_web_search", As: "WebSearch"},
	{Name: "write_todos", As: "TodoWrite"},
	{Name: "activate_skill", As: "Skill"},
	{Name: "invoke_agent", As: "Task"},
	{Name: "get_internal_docs", As: "ToolSearch"},
	{Name: "ask_user", As: "AskUserQuestion", Dialog: true},
	{Name: "enter_plan_mode", As: "EnterPlanMode", Dialog: true},
	{Name: "exit_plan_mode", As: "ExitPlanMode", Dialog: true},
}
