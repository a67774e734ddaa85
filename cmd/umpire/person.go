package main

import "strings"

// agentMarkers are the environment variables by which agents mark the processes
// they start.
var agentMarkers = [...]struct{ name, agent string }{
	{"CLAUDECODE", "Claude Code"},
	{"CLAUDE_CODE_ENTRYPOINT", "Claude Code"},
	{"CODEX_SANDBOX", "Codex"},
	{"CODEX_SANDBOX_NETWORK_DISABLED", "Codex"},
	{"CODEX_THREAD_ID", "Codex"},
	{"GEMINI_CLI", "Gemini CLI"},
	{"QWEN_CODE", "Qwen Code"},
	{"CURSOR_AGENT", "Cursor"},
	{"OPENCODE", "opencode"},
	{"OPENCODE_CALLER", "opencode"},
	{"CLINE_ACTIVE", "Cline"},
	{"AUGMENT_AGENT", "Augment"},
	{"COPILOT_CLI", "GitHub Copilot"},
	{"GOOSE_TERMINAL", "goose"},
	{"CRUSH", "Crush"},
	{"AMP_CURRENT_THREAD_ID", "Amp"},
	{"AI_AGENT", "an agent"},
	{"AGENT", "an agent"},
	{"UMPIRE_AGENT", "an agent"},
}

// needPerson refuses what only a person may do when an agent started this
// process: an agent that could change the rules could approve itself. An agent
// that takes the marker away is not stopped here; that is what keeping its
// commands in a sandbox is for.
func (a *app) needPerson(what string) error {
	for _, m := range agentMarkers {
		if value := a.getenv(m.name); value != "" && value != "0" && !strings.EqualFold(value, "false") {
			return refused(a.text.of("run it yourself, in a terminal that no agent started"),
				"%s needs a person, and %s started this process (%s is set)", what, m.agent, m.name)
		}
	}
	return nil
}
