package userhook

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/rulefile"
)

// maxValue bounds each variable about the call, in bytes: the kernel refuses to start a program
// with a larger environment. Standard input has the complete data.
const maxValue = 64 << 10

// kept are the variables of this process that a hook inherits. It lists the allowed variables, not
// the secret ones: a list of secrets could miss a model's key or a credential.
var kept = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP",
	"UMPIRE_HOME", "UMPIRE_LANG",
	"SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
}

// agentMark tells the answering commands that a program started them, not a person.
const agentMark = "UMPIRE_AGENT=1"

// environOf returns the environment of a hook.
func environOf(own []string, h *rulefile.Hook, o *Occasion) []string {
	var env []string
	for _, pair := range own {
		name, _, _ := strings.Cut(pair, "=")
		if slices.Contains(kept, strings.ToUpper(name)) || strings.HasPrefix(name, "LC_") {
			env = append(env, pair)
		}
	}
	variables := []struct{ name, value string }{
		{"HOOK_ID", h.ID}, {"HOOK_EVENT", string(h.Event)}, {"WORKSPACE_PATH", o.Root},
		{"TOOL_NAME", o.Call.Tool}, {"TOOL_CALL_ID", string(o.Call.ID)}, {"TOOL_INPUT_JSON", string(o.Call.Input)},
		{"TOOL_INPUT_COMMAND", fieldOf(&o.Call, "command", "cmd")},
		{"TOOL_INPUT_PATH", fieldOf(&o.Call, "file_path", "filePath", "path", "notebook_path")},
	}
	for _, t := range variables {
		env = append(env, t.name+"="+valueOf(t.value))
	}
	if h.Event == rulefile.PostToolUse {
		env = append(env, "TOOL_OUTPUT="+valueOf(o.Output))
	}
	return append(env, agentMark)
}

// valueOf returns text as a valid value of a variable.
func valueOf(text string) string {
	return files.ClipTo(strings.ReplaceAll(text, "\x00", ""), maxValue, "")
}

// fieldOf returns the first of these input fields that is a text.
func fieldOf(call *umpire.Call, names ...string) string {
	input := map[string]json.RawMessage{}
	if json.Unmarshal(call.Input, &input) != nil {
		return ""
	}
	for _, name := range names {
		var text string
		if json.Unmarshal(input[name], &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

// message is the standard input of a hook. The gate bounds inputs and outputs before they come
// here.
type message struct {
	Event     rulefile.HookEvent `json:"event"`
	Hook      string             `json:"hook_id"`
	Tool      string             `json:"tool_name"`
	Call      umpire.CallID      `json:"tool_call_id"`
	Input     json.RawMessage    `json:"tool_input"`
	Output    *string            `json:"tool_output,omitempty"`
	Workspace string             `json:"workspace_path"`
	Dir       string             `json:"working_dir,omitempty"`
	Session   umpire.SessionID   `json:"session_id,omitempty"`
	Agent     string             `json:"agent,omitempty"`
}

func payloadOf(h *rulefile.Hook, o *Occasion) string {
	m := message{
		Event: h.Event, Hook: h.ID, Tool: o.Call.Tool, Call: o.Call.ID, Input: o.Call.Input, Workspace: o.Root,
		Dir: o.Call.Dir, Session: o.Call.Session, Agent: o.Call.Agent,
	}
	if !json.Valid(m.Input) {
		m.Input = json.RawMessage("{}")
	}
	if h.Event == rulefile.PostToolUse {
		m.Output = &o.Output
	}
	text, err := json.Marshal(m)
	if err != nil {
		return "{}" // its types always marshal
	}
	return string(text) + "\n"
}
