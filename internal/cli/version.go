package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// A version is what the build says of itself.
type version struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func thisVersion() version {
	v := version{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Version = cmp.Or(info.Main.Version, v.Version)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// String is the version as people read it, on a line.
func (v version) String() string {
	return fmt.Sprintf("umpire %s %s %s\n", v.Version, v.Go, v.Platform)
}

// addVersionFlag makes --version and -v of the root do what `umpire version` does.
func addVersionFlag(root *cobra.Command) {
	root.Version = thisVersion().String()
	root.SetVersionTemplate("{{.Version}}")
	root.Flags().BoolP("version", "v", false, "Show which umpire this is")
}

// newVersionCommand is `umpire version`.
func newVersionCommand(a *app) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "version", GroupID: groupLook, Args: noWords,
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
