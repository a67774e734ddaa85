package host

import (
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/relay"
)

// ClaudeVersion is the release of Claude Code that its tables were checked against.
const ClaudeVersion = "2.1.330"

// claude is Claude Code.
var claude = Host{
	Caller: &relay.Claude, Title: "Claude Code",
	Program:  []string{"claude"},
	Settings: Settings{FormatJSON, ".claude/settings.json", ".claude/settings.json", "CLAUDE_CONFIG_DIR"},
	Events: []HookEvent{
		{Name: "PreToolUse", Kind: BeforeTool, form: &claudeBefore},
		{Name: "PermissionRequest", Kind: BeforeDialog, form: &claudeDialog},
		{Name: "PostToolUse", Kind: AfterTool},
		{Name: "PostToolUseFailure", Kind: AfterFailure, Ran: true},
		{Name: "SessionStart", Kind: SessionStart},
		{Name: "UserPromptSubmit", Kind: PromptSent},
		{Name: "Stop", Kind: TurnEnd},
		{Name: "SessionEnd", Kind: SessionEnd},
	},
	OtherEvents: []string{
		"PostToolBatch", "PermissionDenied", "Notification", "UserPromptExpansion", "StopFailure", "SubagentStart",
		"SubagentStop", "PreCompact", "PostCompact", "Setup", "TeammateIdle", "TaskCreated", "TaskCompleted",
		"ConfigChange", "CwdChanged", "FileChanged", "WorktreeCreate", "WorktreeRemove", "InstructionsLoaded",
		"Elicitation", "ElicitationResult",
	},
	Tools:   claudeTools,
	Timeout: 600 * time.Second, Unit: time.Second,
	Modes: []HostMode{
		{"", Default, SilenceChecks}, // older versions send no mode, and have only this one
		{"default", Default, SilenceChecks},
		{"acceptEdits", AcceptEdits, SilenceChecks},
		{"auto", Auto, SilenceChecks},
		// It still checks its own ask rules and the paths that it calls critical.
		{"bypassPermissions", Bypass, SilenceChecks},
		{"plan", Plan, SilenceChecks},
		{"dontAsk", DontAsk, SilenceChecks},
	},
	InShellDir: true,
	Shells:     shellFamily, GitBash: true,
	Holds: holdsRest,
	Folders: []Folder{
		{Root: rootSettings, Pattern: "plans/*.md", Writes: true, Plan: true, Why: "the plan of plan mode"},
		{Root: rootSettings, Pattern: "projects/*/memory/**", Writes: true,
			Why: "what the model keeps between sessions"},
		{Root: rootSettings, Pattern: "projects/*/*/tool-results/**", Why: "results too long for the conversation"},
		{Root: rootSettings, Pattern: "todos/*.json", Why: "the list of what is to be done"},
		{Root: rootSettings, Pattern: "tasks/**", Why: "the list of what is to be done"},
		{Root: rootScratch, Pattern: "*/*/tasks/**", Why: "the output of background commands"},
		{Root: rootScratch, Pattern: "*/*/scratchpad/**", Writes: true, Why: "the model's temporary files"},
	},
	Scratch: "/tmp/claude-",
	Holes: []umpire.Phrase{"if its hook prints something that is not an answer and exits with 0, the call runs",
		"files that a prompt mentions with @ are not seen",
		"nothing is seen where its settings or flags turn hooks off"},
	Evidence: Driven, Version: ClaudeVersion,
	fields: claudeFields,
}

// claudeBefore and claudeDialog are the answers of Claude Code's hooks. PermissionRequest reads
// JSON with exit 0 only: exit 2 leaves its dialog open.
var (
	claudeBefore = form{
		within: [2]string{"hookSpecificOutput"}, event: "hookEventName",
		decision: "permissionDecision", allow: `"allow"`, deny: `"deny"`, ask: `"ask"`,
		reason: "permissionDecisionReason", input: "updatedInput", message: "systemMessage", exit: exitBlock,
	}
	claudeDialog = form{
		within: [2]string{"hookSpecificOutput", "decision"}, event: "hookEventName",
		decision: "behavior", allow: `"allow"`, deny: `"deny"`, reason: "message",
	}
)

// claudeTools are its tools, including those of older releases. Other names stay unchanged and are
// judged as unknown tools.
var claudeTools = []Tool{
	{Name: "Bash", As: "Bash"},
	// Monitor runs a shell command and reports its lines; without a command it opens a socket, and
	// stays unknown.
	{Name: "Monitor", As: "Bash", Needs: "command", Background: true},

	{Name: "Read", As: "Read"},
	{Name: "NotebookRead", As: "Read", From: "notebook_path", To: "file_path"},
	{Name: "Glob", As: "Glob"},
	{Name: "Grep", As: "Grep"},
	{Name: "LS", As: "LS"},

	{Name: "Write", As: "Write"},
	{Name: "Edit", As: "Edit"},
	{Name: "MultiEdit", As: "Edit"},
	{Name: "NotebookEdit", As: "Edit", From: "notebook_path", To: "file_path"},

	{Name: "WebFetch", As: "WebFetch"},
	{Name: "WebSearch", As: "WebSearch"},

	{Name: "TodoWrite", As: "TodoWrite"},
	{Name: "TaskCreate", As: "TodoWrite"},
	{Name: "TaskUpdate", As: "TodoWrite"},
	{Name: "TaskGet", As: "TodoRead"},
	{Name: "TaskList", As: "TodoRead"},

	{Name: "Task", As: "Task"},
	{Name: "Agent", As: "Task"},
	{Name: "ListAgents", As: "ListAgents"},
	{Name: "SendMessage", As: "SendMessage"},
	{Name: "Workflow", As: "Workflow"},

	{Name: "TaskStop", As: "KillShell"},
	{Name: "KillShell", As: "KillShell"},
	{Name: "KillBash", As: "KillShell"},
	{Name: "TaskOutput", As: "BashOutput"},
	{Name: "BashOutput", As: "BashOutput"},

	{Name: "CronCreate", As: "CronCreate"},
	{Name: "CronDelete", As: "CronDelete"},
	{Name: "CronList", As: "CronList"},
	{Name: "ScheduleWakeup", As: "ScheduleWakeup"},

	{Name: "ToolSearch", As: "ToolSearch"},
	{Name: "Skill", As: "Skill"},
	{Name: "SlashCommand", As: "Skill"},
	{Name: "LSP", As: "LSP"},
	{Name: "ReportFindings", As: "ReportFindings"},
	{Name: "SendUserMessage", As: "SendUserMessage"},
	{Name: "StructuredOutput", As: "StructuredOutput"},
	{Name: "EnterWorktree", As: "EnterWorktree"},
	{Name: "ExitWorktree", As: "ExitWorktree"},

	{Name: "EnterPlanMode", As: "EnterPlanMode", Dialog: true},
	{Name: "ExitPlanMode", As: "ExitPlanMode", Dialog: true},
	{Name: "AskUserQuestion", As: "AskUserQuestion", Dialog: true},
}
