package host

import (
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/relay"
	"github.com/umpirehq/umpire/internal/strictjson"
)

// codex is OpenAI's Codex. It drops an answer with an unknown field, and runs the call.
var codex = Host{
	Caller: &relay.Codex, Title: "Codex",
	Program:  []string{"codex"},
	Settings: Settings{FormatJSON, ".codex/hooks.json", ".codex/hooks.json", "CODEX_HOME"},
	Events: []HookEvent{
		{Name: "PreToolUse", Kind: BeforeTool, form: &codexBefore},
		{Name: "PermissionRequest", Kind: BeforeDialog, form: &claudeDialog},
		{Name: "PostToolUse", Kind: AfterTool},
		{Name: "SessionStart", Kind: SessionStart},
		{Name: "UserPromptSubmit", Kind: PromptSent},
		{Name: "Stop", Kind: TurnEnd},
		{Name: "SessionEnd", Kind: SessionEnd},
	},
	OtherEvents: []string{"PreCompact", "PostCompact", "SubagentStart", "SubagentStop", "Interrupt"},
	Marks:       [][]string{{"turn_id", "model"}},
	Tools: []Tool{
		{Name: "Bash", As: "Bash"},
		{Name: "apply_patch", As: "Edit", Needs: "command"},
		{Name: "write_stdin", As: "write_stdin", Types: true},
		{Name: "view_image", As: "Read"},
		{Name: "update_plan", As: "TodoWrite"},
		{Name: "list_mcp_resources", As: "ToolSearch"},
		{Name: "list_mcp_resource_templates", As: "ToolSearch"},
		// Its hooks receive the namespace and the name of a tool as one word. A sub-agent's own
		// calls are asked about separately.
		{Name: "collaborationspawn_agent", As: "Task"},
		{Name: "collaborationfollowup_task", As: "Task"},
		{Name: "collaborationsend_message", As: "Task"},
		{Name: "collaborationwait_agent", As: "Task"},
		{Name: "collaborationlist_agents", As: "Task"},
		{Name: "collaborationinterrupt_agent", As: "Task"},
	},
	Timeout: 600 * time.Second, Unit: time.Second,
	Modes: []HostMode{
		{"default", Default, SilenceChecks}, // its sandbox holds the command, or it asks
		{"acceptEdits", AcceptEdits, SilenceChecks},
		{"plan", Plan, SilenceChecks},
		{"dontAsk", DontAsk, SilenceChecks},
		{"bypassPermissions", Bypass, SilenceRuns}, // also codex exec, whose sandbox may confine the call
	},
	Shells: shellFamily,
	Holds:  holdsCall,
	Holes: []umpire.Phrase{
		"if its hook prints something that is not an answer and exits with 0, the call runs",
		"what is typed into a program that runs is not seen, so programs that wait for input are refused",
		"the folder that a command names for itself is not seen",
		"the files of a patch that a shell command applies are not seen, so such commands ask",
		"commands are tried only where its own sandbox is off",
	},
	Evidence: Driven, Version: "0.169.0",
	fields:   codexFields,
	complete: completeCodex,
	silence:  codexSilence,
	unseen:   true,
}

// codexBefore cannot express allow except with a new input: silence allows.
var codexBefore = form{
	within: [2]string{"hookSpecificOutput"}, event: "hookEventName",
	decision: "permissionDecision", deny: `"deny"`,
	reason: "permissionDecisionReason", input: "updatedInput", exit: exitBlock,
}

// completeCodex removes fields that only its dialog adds to a call.
func completeCodex(e *Event, input strictjson.Object) error {
	if e.Kind == BeforeDialog && e.Call.Tool == "Bash" {
		delete(input, "description")
		e.Call.Input = encode(input)
	}
	return completePatch(e, input)
}
