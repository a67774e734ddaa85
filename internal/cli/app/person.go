package app

import (
	"context"
	"strings"

	"github.com/umpirehq/umpire"
)

// An agentMarker is an environment variable that an agent sets for its processes.
type agentMarker struct{ name, agent string }

// agentMarkers are those that are known.
var agentMarkers = [...]agentMarker{
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

// findMarker finds the mark of an agent in an environment, or nil.
func findMarker(getenv func(string) string) *agentMarker {
	for i := range agentMarkers {
		m := &agentMarkers[i]
		if value := getenv(m.name); value != "" && value != "0" && !strings.EqualFold(value, "false") {
			return m
		}
	}
	return nil
}

// An ancestor is a process from which this one descends.
type ancestor struct {
	pid    int
	runner string       // the runner's name in sessions, or "" if unknown
	marker *agentMarker // the agent's mark in its environment, or nil
}

// NeedPerson refuses an action that is reserved for people if an agent started this
// process or one of its ancestors: an agent that could change the rules could approve
// itself. It cannot stop an agent that removes every mark and leaves its process tree.
// The sandbox for the agent's commands is there to prevent that.
func (a *App) NeedPerson(what string) error {
	hint := a.Text.Of("run it yourself, in a terminal that no agent started")
	if m := findMarker(a.Getenv); m != nil {
		return Refused(hint, "%s needs a person, but %s started this process (%s is set)", what, m.agent, m.name)
	}
	for _, p := range a.ancestry() {
		if p.marker != nil {
			return Refused(hint,
				"%s needs a person, but %s started process %d, an ancestor of this one (%s was set)",
				what, p.marker.agent, p.pid, p.marker.name)
		}
	}
	return nil
}

// ancestry returns the known ancestors of this process.
func (a *App) ancestry() []ancestor {
	if a.ancestors == nil {
		return nil
	}
	return a.ancestors()
}

// needOutsider refuses an action that is reserved for people in a process that descends
// from a session's runner: a process that an agent started counts as the agent.
func (a *App) needOutsider(what string, runners map[string]string) error {
	for _, p := range a.ancestry() {
		if session, runs := runners[p.runner]; runs && p.runner != "" {
			return Refused(a.Text.Of("run it yourself, in a terminal that no agent started"),
				"%s needs a person, but this process descends from %d, which runs session %s", what, p.pid, session)
		}
	}
	return nil
}

// RefuseRunner refuses to answer in a process that an agent's runner started.
func RefuseRunner(ctx context.Context, a *App, gate umpire.Gate, verb string) error {
	if len(a.ancestry()) == 0 {
		return nil
	}
	sessions, err := gate.Sessions().List(ctx, umpire.SessionQuery{})
	if err != nil {
		return GateError(err)
	}
	runners := map[string]string{}
	for i := range sessions {
		if s := &sessions[i]; s.Runner != "" && s.State != umpire.SessionOver {
			runners[s.Runner] = string(s.ID)
		}
	}
	return a.needOutsider("umpire "+verb, runners)
}
