package drive

import (
	"slices"

	"github.com/umpirehq/umpire/internal/host"
)

// An Agent holds the particulars of a coding agent: how it plays a script without a terminal.
type Agent struct {
	// Name is the host's name in umpire.
	Name string
	// Env is the environment that points it at the scripted model.
	Env func(*Lab) []string
	// Settings are the files that point it at the scripted model, by their path in the lab. It may be nil.
	Settings func(*Lab) map[string]string
	// Args are the arguments to play the script with the options of a mode.
	Args func(l *Lab, options []string) []string
	// Free are the options of the mode that asks nothing, which makes umpire the only thing that stops a call.
	Free []string
	// Shell is a call of its shell tool, without an id.
	Shell func(command string) Call
}

// Prompt is the prompt given to the agent.
const Prompt = "Run the scripted steps."

// Agents lists all agents.
var Agents = []*Agent{&claude, &codex, &gemini, &qwen, &copilot, &opencode, &cline}

// FindAgent returns the agent of a host, or nil.
func FindAgent(name string) *Agent {
	for _, a := range Agents {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// EndsAtDenial reports whether a denied call ends the agent's run: its model gets no report, and
// the rest of the message does not run.
func (a *Agent) EndsAtDenial() bool {
	h := host.Find(a.Name)
	return h != nil && slices.Contains(h.Holes, host.HoleEndsAtDenial)
}
