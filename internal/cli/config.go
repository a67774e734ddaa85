package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/manifest"
	"github.com/umpirehq/umpire/internal/mcp"
	"github.com/umpirehq/umpire/internal/project"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/policy"
)

// config reads the configuration that holds in the project of a folder. What
// is wrong with a file is an error that names the file and the line.
func (a *app) config(dir string) (*config.Config, error) {
	c, err := a.readConfig(dir)
	if err != nil {
		return nil, err
	}
	if c.Lang != "" && a.getenv("UMPIRE_LANG") == "" {
		a.text = catalogueFor(c.Lang)
	}
	return c, nil
}

// userConfig is the person's own configuration, so that no project needs to be
// found.
func (a *app) userConfig() (*config.Config, error) {
	c, err := config.User(a.home())
	if err != nil {
		return nil, usage("umpire config --help", "%w", err)
	}
	return c, nil
}

// readConfig reads the files and changes nothing else: a gate does it while it
// serves.
func (a *app) readConfig(dir string) (*config.Config, error) {
	p, err := a.project(dir)
	if err != nil {
		return nil, err
	}
	c, err := config.Read(a.home(), p.Root)
	if err != nil {
		return nil, usage("umpire config --help", "%w", err)
	}
	return c, nil
}

// project finds the project of a folder.
func (a *app) project(dir string) (*project.Project, error) {
	if dir == "" {
		return nil, failed(errors.New("the working directory is not known"))
	}
	cache := ""
	if a.home() != "" {
		cache = filepath.Join(a.home(), "state", "projects")
	}
	p, err := project.Open(dir, project.Options{Home: a.userHome(), Cache: cache})
	if err != nil {
		return nil, failed(fmt.Errorf("project of %s: %w", dir, err))
	}
	return p, nil
}

// chosenProject is the project of the working directory, or "" for all of them.
func (a *app) chosenProject(all bool) (umpire.ProjectID, error) {
	if all {
		return "", nil
	}
	p, err := a.project(a.dir)
	if err != nil {
		return "", err
	}
	return p.ID, nil
}

// gateConfig is the configuration as the gate understands it.
func (a *app) gateConfig(c *config.Config) gate.Config {
	return gate.Config{UserHome: a.userHome(), Home: a.home(), Now: a.now, Settings: c.GateSettings()}
}

// codeLedger keeps which clones the person trusts to run code.
func codeLedger(a *app) manifest.Ledger {
	c := gate.Config{Home: a.home(), Now: a.now}
	return c.Code()
}

// newConfigCommand is `umpire config`.
func newConfigCommand(a *app) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "config", GroupID: groupLook, Args: noWords,
		Short:   "Show the configuration in force, and where each value comes from",
		Long:    configLong,
		Example: "  umpire config\n  umpire config --json",
		RunE: func(*cobra.Command, []string) error {
			c, err := a.config(a.dir)
			if err != nil {
				return err
			}
			a.remarkAll(c.Notices)
			return a.show(asJSON, c.Values(), func() error { return showConfig(a, c) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

func showConfig(a *app, c *config.Config) error {
	table := newTable(a.stdout)
	fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", a.text.Of("KEY"), a.text.Of("VALUE"), a.text.Of("SOURCE"), a.text.Of("MEANS"))
	for i := range config.Keys {
		s := &config.Keys[i]
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", s.Name, view.Visible(formatValue(a, s.Value(c))), view.Visible(c.Source(s.Name)), a.text.Of(s.About))
	}
	return table.Flush()
}

// formatValue is a value for people; "-" is none.
func formatValue(a *app, value any) string {
	var words []string
	switch value := value.(type) {
	case []string:
		words = value
	case map[string]config.Agent:
		return cmp.Or(agentsText(value, a.text), "-")
	case map[rulefile.HookEvent][]config.Hook:
		for event := range value {
			words = append(words, string(event))
		}
	case map[string]mcp.Server:
		for name := range value {
			words = append(words, name)
		}
	default:
		return cmp.Or(fmt.Sprint(value), "-")
	}
	return cmp.Or(strings.Join(slices.Sorted(slices.Values(words)), ", "), "-")
}

// profileOf is the profile that a flag names.
func profileOf(c *config.Config, name string) (*policy.Profile, error) {
	profile, err := c.Profile(name)
	if err != nil {
		return nil, usage("umpire config", "--agent %w", err)
	}
	return profile, nil
}

// profileText is a profile for people: what it limits, with the suffixes as they are
// compared.
func profileText(agent config.Agent, in view.Catalogue) string {
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
func agentsText(agents map[string]config.Agent, in view.Catalogue) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		all = append(all, name+": "+profileText(agents[name], in))
	}
	return strings.Join(all, " | ")
}

// remarkAll tells the person of notices.
func (a *app) remarkAll(notices []config.Notice) {
	for _, n := range notices {
		a.remark(n.In(a.text.Of))
	}
}
