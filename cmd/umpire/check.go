package main

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate"
)

// checkCommand is `umpire check`.
func (a *app) checkCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "check", Short: a.text.of("Decide one call, or a stream of calls")}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		g := gate.New(gate.Config{UserHome: a.userHome(), Home: a.home()})
		defer g.Close()
		input, _ := json.Marshal(map[string]string{"command": strings.Join(args, " ")})
		d := g.Check(gate.Request{Call: umpire.Call{Tool: "Bash", Input: input, Dir: a.dir}, Mode: umpire.ModeDefault})
		out := json.NewEncoder(a.stdout)
		out.SetIndent("", "  ")
		return out.Encode(d)
	}
	return cmd
}
