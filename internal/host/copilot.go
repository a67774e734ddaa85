package host

import (
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/relay"
	"github.com/umpirehq/umpire/internal/strictjson"
)

// copilot is GitHub's Copilot CLI. A hook's allow would override the user's denials, so umpire
// never sends one.
var copilot = Host{
	Caller: &relay.Copilot, Title: "Copilot CLI",
	Program:  []string{"copilot"},
	Settings: Settings{FormatJSON, ".copilot/hooks/umpire.json", ".github/hooks/umpire.json", "COPILOT_HOME"},
	Events: []HookEvent{
		{Name: "preToolUse", Kind: BeforeTool, form: &copilotBefore},
		{Name: "postToolUse", Kind: AfterTool},
		{Name: "sessionStart", Kind: SessionStart},
		{Name: "userPromptSubmitted", Kind: PromptSent},
		{Name: "sessionEnd", Kind: SessionEnd},
	},
	OtherEvents: []string{
		"permissionRequest", "errorOccurred", "agentStop", "subagentStop", "preCompact", "notification",
	},
	Marks: [][]string{
		{"toolName", "toolArgs"}, {"toolName", "sessionId", "!hookEventName"},
		{"sessionId", "timestamp", "!hookEventName"},
	},
	Tools: []Tool{
		{Name: "bash", As: "Bash"},
		{Name: "read_bash", As: "BashOutput"},
		{Name: "list_bash", As: "BashOutput"},
		{Name: "stop_bash", As: "KillShell"},
		{Name: "write_bash", As: "write_bash", Types: true},
		{Name: "view", As: "Read"},
		{Name: "create", As: "Write"},
		{Name: "edit", As: "Edit"},
		{Name: "glob", As: "Glob"},
		{Name: "grep", As: "Grep"},
		{Name: "rg", As: "Grep"},
		{Name: "web_fetch", As: "WebFetch", Needs: "url"},
		{Name: "web_search", As: "WebSearch"},
		{Name: "task", As: "Task"},
		{Name: "skill", As: "Skill"},
		{Name: "update_todo", As: "TodoWrite"},
		{Name: "report_intent", As: "SendUserMessage"},
		{Name: "fetch_copilot_cli_documentation", As: "ToolSearch"},
		{Name: "ask_user", As: "AskUserQuestion", Dialog: true},
		{Name: "exit_plan_mode", As: "ExitPlanMode", Dialog: true},
	},
	Timeout: 600 * time.Second, Unit: time.Second,
	Modes:  []HostMode{{"", Default, SilenceRuns}}, // hooks are not told of --allow-all-tools
	Shells: shellBash,
	Holds:  holdsAll,
	Holes: []umpire.Phrase{
		"if its hook prints something that is not an answer and exits with 0, the call runs",
		"it does not tell its mode, so umpire asks wherever its rules say so", holeAskedAgain,
		"a result may be taken for that of an equal call",
	},
	Evidence: Driven, Version: "1.0.102",
	fields: fields{
		session: "sessionId", dir: "cwd", agentType: "agentType",
		tool: "toolName", input: "toolArgs", response: "toolResult.textResultForLlm",
	},
	eventOf: copilotEvent,
}

// copilotBefore exits with 0: other codes lose the reason.
var copilotBefore = form{
	decision: "permissionDecision", deny: `"deny"`, ask: `"ask"`, reason: "permissionDecisionReason",
	input: "modifiedArgs",
}

// copilotEvent derives the event from the payload's fields, because few payloads name it.
func copilotEvent(o strictjson.Object) string {
	if name, err := o.Text("hookName"); err == nil && name != "" {
		return name
	}
	for _, mark := range [][2]string{
		{"toolResult", "postToolUse"}, {"toolName", "preToolUse"}, {"toolArgs", "preToolUse"},
		{"prompt", "userPromptSubmitted"}, {"source", "sessionStart"}, {"reason", "sessionEnd"},
	} {
		if _, has := o[mark[0]]; has {
			return mark[1]
		}
	}
	return ""
}
