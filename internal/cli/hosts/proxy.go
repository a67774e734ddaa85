package hosts

import (
	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire/internal/cli/app"
)

// NewProxyCommand is `umpire proxy`.
func NewProxyCommand(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "proxy", Args: app.RefuseUnknownCommand,
		Short: "Stand between an agent and its tools or its editor",
		Long:  "Agents and editors start these from their settings; each decides the calls that pass through it.",
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newMCPCommand(a), newACPCommand(a), newCodexCommand(a))
	return cmd
}
