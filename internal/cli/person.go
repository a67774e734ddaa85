package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire/policy"
)

// An agentMarker is an environment variable by which an agent marks the
// processes that it starts.
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

// marked finds the mark of an agent in an environment; nil is none.
func marked(getenv func(string) string) *agentMarker {
	for i := range agentMarkers {
		m := &agentMarkers[i]
		if value := getenv(m.name); value != "" && value != "0" && !strings.EqualFold(value, "false") {
			return m
		}
	}
	return nil
}

// An ancestor is a process that this one descends from.
type ancestor struct {
	pid    int
	runner string       // as sessions name who runs them, "" when not known
	marker *agentMarker // the agent's mark in its environment, nil when there is none
}

// needPerson refuses what only a person may do when an agent started this
// process, or one that this one descends from: an agent that could change the
// rules could approve itself. An agent that takes every mark away and leaves the
// tree of its processes is not stopped here; that is what keeping its commands in
// a sandbox is for.
func (a *app) needPerson(what string) error {
	hint := a.text.Of("run it yourself, in a terminal that no agent started")
	if m := marked(a.getenv); m != nil {
		return refused(hint, "%s needs a person, and %s started this process (%s is set)", what, m.agent, m.name)
	}
	for _, p := range a.ancestry() {
		if p.marker != nil {
			return refused(hint, "%s needs a person, and %s started process %d, which this one descends from (%s was set)",
				what, p.marker.agent, p.pid, p.marker.name)
		}
	}
	return nil
}

// refuseAgents refuses a command that is a person's to a process that an agent started. The
// marks are the policy's, which denies the same commands before they start; here they
// hold for whatever path or wrapper led to this process.
func refuseAgents(a *app, cmd *cobra.Command, args []string) error {
	if cmd == cmd.Root() {
		return nil
	}
	verb := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	if mark, _ := policy.VerbMarkOf(verb); mark != policy.VerbPerson || onlyShows(cmd, verb, args) {
		return nil
	}
	return a.needPerson(cmd.CommandPath())
}

// onlyShows reports whether a command of a person is asked to change nothing.
func onlyShows(cmd *cobra.Command, verb string, args []string) bool {
	isSet := func(flag string) bool {
		return cmd.Flags().Changed(flag) && cmd.Flags().Lookup(flag).Value.String() == "true"
	}
	if verb == "mode" {
		return len(args) == 0 && !isSet("leave-plan") && !cmd.Flags().Changed("allow-all")
	}
	return isSet("dry-run") || isSet("show")
}

// ancestry is what this process descends from, as far as it is known.
func (a *app) ancestry() []ancestor {
	if a.ancestors == nil {
		return nil
	}
	return a.ancestors()
}

// needOutsider refuses what only a person may do in a process that descends from
// one that runs a session: what an agent starts is the agent.
func (a *app) needOutsider(what string, runners map[string]string) error {
	for _, p := range a.ancestry() {
		if session, runs := runners[p.runner]; runs && p.runner != "" {
			return refused(a.text.Of("run it yourself, in a terminal that no agent started"),
				"%s needs a person, and this process descends from %d, which runs session %s", what, p.pid, session)
		}
	}
	return nil
}
