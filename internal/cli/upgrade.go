package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/view"
)

const upgradeLong = `Shows how umpire was installed and the command that upgrades it. It changes nothing
and does not use the network. A running gate keeps using the old program until you
restart it.`

// newUpgradeCommand is `umpire setup upgrade`.
func newUpgradeCommand(a *app.App) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "upgrade", Args: app.RefuseWords,
		Short:   "Show how to upgrade umpire",
		Long:    upgradeLong,
		Example: "  umpire setup upgrade\n  umpire setup upgrade --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			installed := a.FindInstallation(cmd.Context())
			return a.Show(asJSON, installed, func() error {
				fmt.Fprint(a.Stdout, app.ThisBuild())
				where := view.Visible(a.Executable)
				fmt.Fprintf(a.Stdout, a.Text.Of("installed by %s, in %s")+"\n", installed.By, where)
				_, err := fmt.Fprintln(a.Stdout, view.Joined(a.Text.Of("next"), ": ", installed.Upgrade))
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}
