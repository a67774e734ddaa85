package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/policy"
)

// refuseAgents refuses a command that is reserved for people if an agent started this
// process. The marks are the policy's, which denies the same commands before they start.
// Here they apply regardless of the path or wrapper that led to this process.
func refuseAgents(a *app.App, cmd *cobra.Command, args []string) error {
	if cmd == cmd.Root() {
		return nil
	}
	verb := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	if mark, _ := policy.VerbMarkOf(verb); mark != policy.VerbPerson || onlyShows(cmd, verb, args) {
		return nil
	}
	return a.NeedPerson(cmd.CommandPath())
}

// onlyShows reports whether the arguments of a person's command change nothing.
func onlyShows(cmd *cobra.Command, verb string, args []string) bool {
	isSet := func(flag string) bool {
		return cmd.Flags().Changed(flag) && cmd.Flags().Lookup(flag).Value.String() == "true"
	}
	if verb == "proxy mcp permission-prompt" {
		return true // the agent's program starts it, and it asks like a hook
	}
	if verb == "autonomy" {
		return len(args) == 0
	}
	if verb == "sessions mode" {
		return len(args) == 0 && !isSet("leave-plan") && !cmd.Flags().Changed("allow-all")
	}
	return isSet("dry-run") || isSet("show") || isSet("list")
}
