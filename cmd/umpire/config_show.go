package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire/internal/mcp"
	"github.com/umpirehq/umpire/internal/rulefile"
)

// configCommand is `umpire config`.
func (a *app) configCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "config", GroupID: groupLook, Args: noWords,
		Short:   a.text.of("Show the configuration in force, and where each value comes from"),
		Long:    a.text.of(configLong),
		Example: "  umpire config\n  umpire config --json",
		RunE: func(*cobra.Command, []string) error {
			c, err := a.config(a.dir)
			if err != nil {
				return err
			}
			a.remarkAll(c.notices)
			if asJSON {
				return failed(a.showJSON(c.values()))
			}
			return failed(a.showConfig(c))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, a.text.of("write JSON"))
	return cmd
}

// A configValue is one key in force.
type configValue struct {
	Value  any    `json:"value"`
	Source string `json:"source"` // default, or the file that set it
}

// values are all keys with their values.
func (c *config) values() map[string]configValue {
	all := map[string]configValue{}
	for i := range settings {
		all[settings[i].key] = configValue{settings[i].value(c), c.source(settings[i].key)}
	}
	return all
}

// source is the file that set a key, or "default".
func (c *config) source(key string) string { return orText(c.sources[key], "default") }

func (a *app) showConfig(c *config) error {
	table := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", a.text.of("KEY"), a.text.of("VALUE"), a.text.of("SOURCE"), a.text.of("MEANS"))
	for i := range settings {
		s := &settings[i]
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", s.key, visible(a.valueText(s.value(c))), visible(c.source(s.key)), a.text.of(s.about))
	}
	return table.Flush()
}

// valueText is a value for people; "-" is none.
func (a *app) valueText(value any) string {
	var words []string
	switch value := value.(type) {
	case []string:
		words = value
	case map[string]agentConfig:
		return orText(agentsText(value, a.text), "-")
	case map[rulefile.HookEvent][]hookConfig:
		for event := range value {
			words = append(words, string(event))
		}
	case map[string]mcp.Server:
		for name := range value {
			words = append(words, name)
		}
	default:
		return orText(fmt.Sprint(value), "-")
	}
	return orText(strings.Join(slices.Sorted(slices.Values(words)), ", "), "-")
}
