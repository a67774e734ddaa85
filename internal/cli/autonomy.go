package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/hold/egress"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
)

// newAutonomyCommand is `umpire autonomy`.
func newAutonomyCommand(a *app.App) *cobra.Command {
	asJSON, reach := false, []string(nil)
	cmd := &cobra.Command{
		Use: "autonomy [low|medium|high]", Args: app.WantAtMostOneWord, ValidArgs: config.LevelNames(),
		Short:   "Show or set how much runs without a question",
		Long:    autonomyLong,
		Example: "  umpire autonomy\n  umpire autonomy medium\n  umpire autonomy --reach npm,go,docs.example.com",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				if err := setAutonomy(a.Home(), args[0]); err != nil {
					return err
				}
			}
			if cmd.Flags().Changed("reach") {
				if err := setReach(a.Home(), reach); err != nil {
					return err
				}
			}
			c, err := a.LoadConfig(a.Dir)
			if err != nil {
				return err
			}
			a.RemarkAll(c.Notices)
			return a.Show(asJSON, shownAutonomy(c), func() error { return showAutonomy(a.Stdout, a.Text, c) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	cmd.Flags().StringSliceVar(&reach, "reach", nil, "let commands reach these `HOSTS` or groups; '' for none")
	app.CompleteWords(cmd, "reach", egress.GroupNames()...)
	return cmd
}

// setAutonomy writes the keys of a level into the person's configuration.
func setAutonomy(home, word string) error {
	if !slices.Contains(config.LevelNames(), word) {
		return app.Usage("umpire autonomy medium", "%q: want one of %s", word, strings.Join(config.LevelNames(), ", "))
	}
	if err := wantHome(home); err != nil {
		return err
	}
	return app.Failed(config.WriteAutonomy(filepath.Join(home, config.FileName), policy.Level(word)))
}

// setReach writes the destinations into the person's configuration.
func setReach(home string, listed []string) error {
	if err := wantHome(home); err != nil {
		return err
	}
	if _, err := egress.ParseList(listed); err != nil {
		return app.Usage("umpire autonomy --reach npm,go", "--reach: %w", err)
	}
	return app.Failed(config.WriteDestinations(filepath.Join(home, config.FileName), listed))
}

func wantHome(home string) error {
	if home == "" {
		return app.Usage("export HOME=... or UMPIRE_HOME=...", "there is no home folder for the configuration")
	}
	return nil
}

// An autonomyShown is the dial in JSON.
type autonomyShown struct {
	Level policy.Level              `json:"level,omitempty"` // empty if the keys match no level
	Keys  map[string]config.InForce `json:"keys"`
}

func shownAutonomy(c *config.Config) autonomyShown {
	shown := autonomyShown{Level: c.AutonomyLevel(), Keys: map[string]config.InForce{}}
	for name, value := range c.Values() {
		if strings.HasPrefix(name, config.AutonomyPrefix) {
			shown.Keys[name] = value
		}
	}
	return shown
}

// showAutonomy writes the level and its effect on each kind of call.
func showAutonomy(out io.Writer, text *catalogue.Language, c *config.Config) error {
	level := string(c.AutonomyLevel())
	if level == "" {
		level = text.Of("custom: not low, medium or high")
	}
	fmt.Fprintf(out, text.Of("autonomy: %s")+"\n\n", level)
	table := app.NewTable(out)
	for i := range config.Keys {
		k := &config.Keys[i]
		if strings.HasPrefix(k.Name, config.AutonomyPrefix) {
			fmt.Fprintf(table, "  %s\t%s\t%s\t%s\n", k.Name, view.Visible(formatValue(text, k.Value(c))),
				view.Visible(c.Source(k.Name)), text.Of(k.About))
		}
	}
	return table.Flush()
}

const autonomyLong = `Shows how much runs without a question, or sets it for you in config.yaml in ~/.umpire:

  low     asks, as if this were not set
  medium  reads outside the project, temporary folders, edits in the project and local
          git run; scripts, builds, tests and deletions in the project are tried first;
          a host listed in autonomy.destinations is asked about once in a session, and
          tried installers reach the listed groups, such as npm
  high    also reaches those hosts unasked

--reach lists hosts, and groups of hosts by name: npm, pypi, go, crates, docs and others.

No level overrides deny rules and ask rules. Nor does it cover files that control umpire
or other agents, secrets, critical calls, or calls that umpire can't judge. Publishing,
writes outside the project and unlisted hosts ask. Each row has its own key in the
configuration, and a project's file can only make it ask.

A call that is tried first changes only a copy. umpire then keeps its changes to the
project unless they touch one of these places. If umpire can't run a trial, it asks.

Only a person can set the level.`
