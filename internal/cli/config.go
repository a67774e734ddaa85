package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
)

// newConfigCommand is `umpire config`.
func newConfigCommand(a *app.App) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "config", Args: app.RefuseWords,
		Short:   "Show the configuration in force, and where each value comes from",
		Long:    configLong,
		Example: "  umpire config\n  umpire config --json",
		RunE: func(*cobra.Command, []string) error {
			c, err := a.LoadConfig(a.Dir)
			if err != nil {
				return err
			}
			a.RemarkAll(c.Notices)
			return a.Show(asJSON, shownValues(c), func() error { return showConfig(a.Stdout, a.Text, c) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

// shownValues returns all keys with their values, as written in a file.
func shownValues(c *config.Config) map[string]config.InForce {
	values := c.Values()
	for key, v := range values {
		if d, ok := v.Value.(time.Duration); ok {
			values[key] = config.InForce{Value: view.Duration(d), Source: v.Source}
		}
	}
	return values
}

func showConfig(out io.Writer, text *catalogue.Language, c *config.Config) error {
	table := app.NewTable(out)
	table.Head(text, "KEY", "VALUE", "SOURCE", "MEANS")
	for i := range config.Keys {
		s := &config.Keys[i]
		table.Row(s.Name, view.Visible(formatValue(text, s.Value(c))), view.Visible(c.Source(s.Name)), text.Of(s.About))
	}
	return table.Flush()
}

// formatValue formats a value for people; an empty one is "-".
func formatValue(text *catalogue.Language, value any) string {
	var words []string
	switch value := value.(type) {
	case time.Duration:
		return view.Duration(value)
	case []string:
		words = value
	case map[string]config.Agent:
		return cmp.Or(agentsText(value, text), "-")
	case map[rulefile.HookEvent][]config.Hook:
		for event := range value {
			words = append(words, string(event))
		}
	case map[string]config.Server:
		for name := range value {
			words = append(words, name)
		}
	default:
		return cmp.Or(fmt.Sprint(value), "-")
	}
	return cmp.Or(strings.Join(slices.Sorted(slices.Values(words)), ", "), "-")
}

// profileText describes a profile for people: its limits, with normalised suffixes.
func profileText(agent config.Agent, in *catalogue.Language) string {
	tools, suffixes := in.Of("all tools"), in.Of("every suffix")
	if agent.Tools != nil {
		tools = cmp.Or(strings.Join(agent.Tools, " "), in.Of("no tools"))
	}
	if effective := policy.NormalizeSuffixes(agent.EditableSuffixes); len(effective) > 0 {
		suffixes = strings.Join(effective, " ")
		if agent.SuffixScope == config.AllWrites {
			suffixes += " " + in.Of("for every write")
		}
	}
	return tools + "; " + suffixes
}

// agentsText is the profiles of all agents, one after the other.
func agentsText(agents map[string]config.Agent, in *catalogue.Language) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		all = append(all, name+": "+profileText(agents[name], in))
	}
	return strings.Join(all, " | ")
}
