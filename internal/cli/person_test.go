package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/policy"
)

// startedByAgents is refused in an agent's command line. The agent's own program starts it, and
// umpire answers.
const startedByAgents = "proxy mcp permission-prompt"

// Every command is marked. A new one is reserved for people by default, and an agent's
// call of such a command is refused before it does anything.
func TestEveryCommandIsMarked(t *testing.T) {
	t.Parallel()
	seen := 0
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
		if !cmd.HasParent() || !cmd.Runnable() {
			return
		}
		seen++
		verb := strings.TrimPrefix(cmd.CommandPath(), "umpire ")
		mark, marked := policy.VerbMarkOf(verb)
		if !marked {
			t.Errorf("umpire %s is not marked in the policy", verb)
		}
		agent := &app.App{Surroundings: app.Surroundings{Getenv: func(name string) string { return map[string]string{"CLAUDECODE": "1"}[name] }}}
		if refused := refuseAgents(agent, cmd, []string{"x"}) != nil; refused != (mark == policy.VerbPerson && verb != startedByAgents) {
			t.Errorf("umpire %s: refused to an agent %v, mark %v", verb, refused, mark)
		}
	}
	root := newRootCommand(&app.App{})
	root.InitDefaultCompletionCmd()
	walk(root)
	if seen < 30 {
		t.Errorf("only %d commands", seen)
	}
}
