package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/view"
)

const upgradeLong = `Says how this umpire was installed, and the command that puts a newer one in its
place. It changes nothing, and looks nothing up. A gate that runs goes on with the old
program until it is started again.`

// newUpgradeCommand is `umpire setup upgrade`.
func newUpgradeCommand(a *app.App) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "upgrade", Args: app.RefuseWords,
		Short:   "Say how to get a newer umpire",
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
