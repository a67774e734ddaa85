package host

import (
	"fmt"
	"slices"
)

// A dialect is how another agent's questions are told from Claude Code's. Several of
// them read Claude Code's settings and start its hooks, with payloads of their own.
type dialect struct {
	agent string // for umpire init and umpire hook
	name  string
	// fields mark it where all of one group are there; events where one is named.
	fields [][]string
	events []string
}

// dialects are the agents that are known to ask in other words. The first that fits is
// the one.
var dialects = []dialect{
	{"muse", "muse", [][]string{{"toolName", "toolCallId"}}, nil},
	{"cursor", "Cursor", [][]string{{"cursor_version"}}, []string{
		"beforeShellExecution", "afterShellExecution", "beforeMCPExecution", "afterMCPExecution", "beforeReadFile",
		"afterFileEdit",
		"beforeSubmitPrompt", "beforeTabFileRead", "afterTabFileEdit", "afterAgentResponse", "afterAgentThought",
	}},
	{"codex", "Codex", [][]string{{"turn_id", "model"}}, nil},
	{"cline", "Cline", [][]string{{"clineVersion"}}, nil},
	{"windsurf", "Windsurf", [][]string{{"agent_action_name"}}, nil},
	{"antigravity", "Antigravity", [][]string{{"toolCall"}}, nil},
	{"grok", "Grok CLI", [][]string{{"toolInput", "workspaceRoot"}}, nil},
	{"copilot", "Copilot", [][]string{{"toolName"}, {"toolArgs"}, {"sessionId", "timestamp"}}, nil},
	{"gemini", "Gemini CLI", nil, []string{
		"BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel", "BeforeToolSelection",
		"PreCompress",
	}},
	{"kiro", "Kiro", nil, []string{"agentSpawn", "userPromptSubmit", "preToolUse", "postToolUse"}},
}

// claudeEvents are the events of Claude Code. A payload about another one comes from
// somebody else, whatever it looks like.
var claudeEvents = []string{
	"PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "PermissionRequest", "PermissionDenied",
	"Notification",
	"UserPromptSubmit", "UserPromptExpansion", "SessionStart", "SessionEnd", "Stop", "StopFailure", "SubagentStart",
	"SubagentStop",
	"PreCompact", "PostCompact", "Setup", "TeammateIdle", "TaskCreated", "TaskCompleted", "ConfigChange", "CwdChanged",
	"FileChanged",
	"WorktreeCreate", "WorktreeRemove", "InstructionsLoaded", "Elicitation", "ElicitationResult",
}

// A ForeignError says that a question is not Claude Code's.
type ForeignError struct {
	// Agent is whose it is, in the words of umpire init; "" when that is not known.
	Agent string
	text  string
}

// Error says whose the question is, and what to do about it.
func (e *ForeignError) Error() string { return e.text }

// CheckClaude returns a *ForeignError for a payload that is not Claude Code's, by the
// names of its fields and its event, which is "" when the payload names none.
func CheckClaude(has func(field string) bool, event string) error {
	for _, d := range dialects {
		all := func(group []string) bool {
			return !slices.ContainsFunc(group, func(name string) bool { return !has(name) })
		}
		if slices.ContainsFunc(d.fields, all) || slices.Contains(d.events, event) {
			return &ForeignError{d.agent, fmt.Sprintf(
				"this is a question of %s, not of Claude Code; it needs the adapter %q: see umpire init",
				d.name, d.agent)}
		}
	}
	if event != "" && !slices.Contains(claudeEvents, event) {
		return &ForeignError{text: fmt.Sprintf("hook_event_name: %.100q is not an event of Claude Code", event)}
	}
	return nil
}
