package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// addVersionFlag makes --version and -v of the root do what `umpire version` does.
func addVersionFlag(root *cobra.Command) {
	root.Version = thisVersion().String()
	root.SetVersionTemplate("{{.Version}}")
	root.Flags().BoolP("version", "v", false, "Show which umpire this is")
}

// newVersionCommand is `umpire version`.
func newVersionCommand(a *App) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "version", Args: refuseWords,
		Short:   "Show which umpire this is",
		Long:    "Shows the version, the commit it was built from, the Go release and the platform.",
		Example: "  umpire version\n  umpire version --json",
		RunE: func(*cobra.Command, []string) error {
			v := thisVersion()
			return a.show(asJSON, v, func() error {
				_, err := fmt.Fprint(a.stdout, v)
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}
