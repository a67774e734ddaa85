package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire/internal/cli/app"
)

// addVersionFlag makes --version and -v of the root do the same as `umpire version`.
func addVersionFlag(out io.Writer, root *cobra.Command) {
	shown := root.Flags().BoolP("version", "v", false, "Show the version of umpire")
	help := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if *shown {
			_, err := fmt.Fprint(out, app.ThisBuild())
			return app.Failed(err)
		}
		return help(cmd, args)
	}
}

// newVersionCommand is `umpire version`.
func newVersionCommand(a *app.App) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "version", Args: app.RefuseWords,
		Short:   "Show the version of umpire",
		Long:    "Shows the version, the commit it was built from, the Go release and the platform.",
		Example: "  umpire version\n  umpire version --json",
		RunE: func(*cobra.Command, []string) error {
			v := app.ThisBuild()
			return a.Show(asJSON, v, func() error {
				_, err := fmt.Fprint(a.Stdout, v)
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}
