package host

import (
	"fmt"
	"slices"

	"github.com/umpirehq/umpire/internal/strictjson"
)

// A ForeignError says that a question comes from another agent. Several of them read the
// settings of others and start the hooks there, with payloads of their own.
type ForeignError struct {
	// Agent is whose it is, in the words of umpire init; "" when that is not known.
	Agent string
	text  string
}

// Error says whose the question is, and what to do about it.
func (e *ForeignError) Error() string { return e.text }

// strangers are agents whose payloads are known, and that umpire does not answer.
var strangers = []*Host{
	{Name: "cursor", Title: "Cursor", Marks: [][]string{{"cursor_version"}}, OtherEvents: []string{
		"beforeShellExecution", "afterShellExecution", "beforeMCPExecution", "afterMCPExecution", "beforeReadFile",
		"afterFileEdit",
		"beforeSubmitPrompt", "beforeTabFileRead", "afterTabFileEdit", "afterAgentResponse", "afterAgentThought",
	}},
	{Name: "codex", Title: "Codex", Marks: [][]string{{"turn_id", "model"}}},
	{Name: "cline", Title: "Cline", Marks: [][]string{{"clineVersion"}}},
	{Name: "windsurf", Title: "Windsurf", Marks: [][]string{{"agent_action_name"}}},
	{Name: "antigravity", Title: "Antigravity", Marks: [][]string{{"toolCall"}}},
	{Name: "grok", Title: "Grok CLI", Marks: [][]string{{"toolInput", "workspaceRoot"}}},
	{Name: "copilot", Title: "Copilot", Marks: [][]string{{"toolName"}, {"toolArgs"}, {"sessionId", "timestamp"}}},
	{Name: "gemini", Title: "Gemini CLI", OtherEvents: []string{
		"BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel", "BeforeToolSelection",
		"PreCompress",
	}},
	{Name: "kiro", Title: "Kiro", OtherEvents: []string{"agentSpawn", "userPromptSubmit", "preToolUse", "postToolUse"}},
}

// checkForeign returns a *ForeignError for a payload that is not the host's, by the names of
// its fields and its event.
func (h *Host) checkForeign(o strictjson.Object) error {
	in := reader{of: o}
	event := in.text(h.fields.event)
	if h.marks(o) {
		return nil
	}
	for _, other := range slices.Concat(Hosts, strangers) {
		if other != h && (other.marks(o) || !h.knows(event) && other.knows(event)) {
			return &ForeignError{other.Name, fmt.Sprintf(
				"this is a question of %s, not of %s; it needs the adapter %q: see umpire init",
				other.Title, h.Title, other.Name)}
		}
	}
	if event != "" && !h.knows(event) {
		return &ForeignError{text: fmt.Sprintf("%s: %.100q is not an event of %s", h.fields.event, event, h.Title)}
	}
	return nil
}

// marks reports whether a payload has fields that only the host's have.
func (h *Host) marks(o strictjson.Object) bool {
	return slices.ContainsFunc(h.Marks, func(group []string) bool {
		return !slices.ContainsFunc(group, func(name string) bool { _, has := o[name]; return !has })
	})
}

// knows reports whether an event is one of the host's.
func (h *Host) knows(event string) bool {
	_, known := h.Event(event)
	return known || slices.Contains(h.OtherEvents, event)
}
