package host

import (
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/strictjson"
)

// cline is Cline. It cannot ask or be told of an allow: a hook cancels a call, or it does not.
var cline = Host{
	Name: "cline", Title: "Cline",
	Program: []string{"cline"},
	// The file is the hook itself: a program that starts umpire's.
	Settings: Settings{FormatPlugin, "Documents/Cline/Hooks/PreToolUse", ".clinerules/hooks/PreToolUse", ""},
	Events:   []HookEvent{{Name: "tool_call", Kind: BeforeTool, form: &clineBefore}},
	OtherEvents: []string{
		"tool_result", "prompt_submit", "agent_start", "agent_end", "agent_abort", "agent_error", "session_shutdown",
	},
	Marks: [][]string{{"clineVersion"}},
	Tools: []Tool{
		{Name: "execute_command", As: "Bash"},
		{Name: "bash", As: "Bash"},
		{Name: "read_file", As: "Read"},
		{Name: "write_to_file", As: "Write"},
		{Name: "replace_in_file", As: "Edit"},
		{Name: "list_files", As: "LS"},
		{Name: "list_code_definition_names", As: "LS"},
		{Name: "search_files", As: "Grep", From: "regex", To: "pattern"},
		{Name: "web_fetch", As: "WebFetch", Needs: "url"},
		{Name: "web_search", As: "WebSearch"},
		{Name: "new_task", As: "Task"},
		{Name: "ask_followup_question", As: "AskUserQuestion", Dialog: true},
		{Name: "plan_mode_respond", As: "ExitPlanMode", Dialog: true},
	},
	Timeout: 120 * time.Second, DefaultTimeout: 120 * time.Second, Unit: time.Second,
	Modes:    []HostMode{{"", Default, SilenceRuns}}, // what it approves by itself is not told
	Holds:    HoldsRest,
	Holes:    []umpire.Phrase{"hole-no-mode", "hole-late-runs", "hole-yolo-hooks", "hole-no-rewrite"},
	Evidence: Documented, Version: "3.0.65",
	fields: fields{
		event: "hookName", session: "taskId", project: "workspaceRoots", dir: "workspaceRoots",
		agentType: "parent_agent_id",
		tool:      "tool_call.name", input: "tool_call.input", id: "tool_call.id",
	},
	eventOf: clineEvent,
}

// clineBefore has no word for allow, and no exit code that denies.
var clineBefore = form{decision: "cancel", deny: "true", reason: "errorMessage"}

// clineEvent is the event of a payload. Older versions use other names and other fields.
func clineEvent(o strictjson.Object) string {
	name, err := o.Text("hookName")
	if err != nil {
		return ""
	}
	if _, has := o["tool_call"]; has && name == "PreToolUse" {
		return "tool_call"
	}
	return name
}
