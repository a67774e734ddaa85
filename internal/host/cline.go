package host

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/relay"
	"github.com/umpirehq/umpire/internal/strictjson"
	"github.com/umpirehq/umpire/shell"
)

// cline is Cline. It cannot ask, and its hooks cannot allow: a hook cancels a call, or does
// nothing. It asks about every call of a message before one of them runs, and a cancelled call ends
// the agent's run.
var cline = Host{
	Caller: &relay.Cline, Title: "Cline",
	Program: []string{"cline"},
	// The file is the hook itself: a program that starts umpire's.
	Settings: Settings{FormatPlugin, "Documents/Cline/Hooks/PreToolUse", ".clinerules/hooks/PreToolUse", ""},
	Events:   []HookEvent{{Name: "tool_call", Kind: BeforeTool, form: &clineBefore}},
	OtherEvents: []string{
		"tool_result", "prompt_submit", "agent_start", "agent_end", "agent_abort", "agent_error", "session_shutdown",
	},
	Marks: [][]string{{"clineVersion"}},
	Tools: []Tool{
		{Name: "run_commands", As: "Bash", From: "commands", To: "command"},
		{Name: "read_files", As: "Read"},
		{Name: "editor", As: "Edit"},
		{Name: "apply_patch", As: "Edit", Needs: "input"},
		{Name: "search_codebase", As: "Grep"},
		{Name: "fetch_web_content", As: "WebFetch"},
		{Name: "spawn_agent", As: "Task"},
		{Name: "skills", As: "Skill"},
		{Name: "ask_question", As: "AskUserQuestion", Dialog: true},
		// Those of its releases before 3.
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
	Timeout: 120 * time.Second, Unit: time.Second,
	Modes: []HostMode{{"", Default, SilenceRuns}}, // hooks are not told of its auto-approval
	Holds: holdsAll,
	Holes: []umpire.Phrase{
		"if its hook prints something that is not an answer and exits with 0, the call runs",
		"it does not tell its mode, so umpire asks wherever its rules say so", holeAskedAgain,
		"a call runs if its hook is late, or killed with its shell",
		HoleEndsAtDenial, holeNoRewrite,
	},
	Evidence: Driven, Version: "3.0.65",
	fields: fields{
		event: "hookName", session: "taskId", project: "workspaceRoots", dir: "workspaceRoots",
		agentType: "parent_agent_id",
		tool:      "tool_call.name", input: "tool_call.input", id: "tool_call.id",
	},
	eventOf:  clineEvent,
	complete: completeCline,
}

// clineBefore cannot express allow, and has no exit code that denies.
var clineBefore = form{decision: "cancel", deny: "true", reason: "errorMessage"}

// clineEvent returns the event of a payload. Older versions use other names and other fields.
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

// completeCline reads the tools that take lists. An input in another shape is judged as that of an
// unknown tool.
func completeCline(e *Event, input strictjson.Object) error {
	field, value := "", any(nil)
	switch e.ToolName {
	case "run_commands":
		if line := clineLine(input["commands"]); line != "" {
			field, value = "command", line
		}
	case "read_files":
		if files := clineList(input["files"]); len(files) > 0 {
			field, value = "paths", files
		}
	case "fetch_web_content":
		if pages := clineList(input["requests"]); len(pages) == 1 {
			page, err := strictjson.ReadObject(pages[0])
			if err != nil {
				return err
			}
			field, value = "url", page["url"]
		}
	default:
		return completePatch(e, input)
	}
	if field == "" {
		e.Call.Tool, e.Call.Input = e.ToolName, e.input
		return nil
	}
	e.Call.Input = encode(map[string]any{field: value})
	return nil
}

// clineList returns a list, or nil for any other value.
func clineList(raw json.RawMessage) (list []json.RawMessage) {
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// clineLine returns a command, or a list of commands as one line; "" if the input is not
// understood. Cline starts a shell for each, all at once, but joins some if one looks like the
// start of a here-document.
func clineLine(raw json.RawMessage) string {
	var lines []string
	if one := ""; json.Unmarshal(raw, &one) == nil {
		return one
	}
	for _, item := range clineList(raw) {
		var line string
		if json.Unmarshal(item, &line) != nil || line == "" {
			return ""
		}
		lines = append(lines, line)
	}
	if len(lines) < 2 {
		return strings.Join(lines, "")
	}
	for i, line := range lines {
		if strings.Contains(line, "<<") {
			return ""
		}
		lines[i] = "bash -c " + shell.Quote(line)
	}
	return strings.Join(lines, "\n")
}
