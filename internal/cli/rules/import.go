package rules

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/policy"
)

// importFormats are the words for formats; "claude" goes by the file's name.
var importFormats = []string{"claude", "claude-settings", "claude-yaml", "muse", "umpire"}

// newRulesImportCommand is `umpire rules import`.
func newRulesImportCommand(a *app.App) *cobra.Command {
	scope, dryRun := "", false
	cmd := &cobra.Command{
		Use: "import FORMAT FILE", Args: app.WantWords("FORMAT", "FILE"),
		Short: "Import rules from another tool's file",
		Long:  importLong,
		Example: "  umpire rules import claude .claude/settings.json --dry-run\n" +
			"  umpire rules import muse ~/.muse/permissions.json --scope global",
		ValidArgsFunction: func(_ *cobra.Command, args []string,
			_ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return importFormats, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			format, err := importFormat(args[0], args[1])
			if err != nil {
				return err
			}
			return importRules(cmd.Context(), a, format, a.Absolute(args[1]), scope, dryRun)
		},
	}
	cmd.Flags().StringVar(&scope, "scope", "project", "`SCOPE`: project or global")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show the rules and write nothing")
	app.CompleteWords(cmd, "scope", "project", "global")
	return cmd
}

func importFormat(word, file string) (rulefile.Format, error) {
	switch word {
	case "claude":
		if strings.HasSuffix(file, ".yml") || strings.HasSuffix(file, ".yaml") {
			return rulefile.FormatClaudeYAML, nil
		}
		return rulefile.FormatClaudeSettings, nil
	case "claude-settings":
		return rulefile.FormatClaudeSettings, nil
	case "claude-yaml":
		return rulefile.FormatClaudeYAML, nil
	case "muse":
		return rulefile.FormatMuse, nil
	case "umpire":
		return rulefile.FormatUmpire, nil
	}
	return 0, app.Usage("umpire rules import --help", "format %q: want one of %s", word,
		strings.Join(importFormats, ", "))
}

// importRules copies the rules that it can convert exactly. It names the others and leaves them out.
func importRules(ctx context.Context, a *app.App, format rulefile.Format, file, scope string, dryRun bool) error {
	p, err := a.OpenProject()
	if err != nil {
		return err
	}
	to, err := p.Layer(scope)
	if err != nil {
		return err
	}
	rules, left, err := p.RulesOf(file, format)
	if err != nil {
		return err
	}
	if format == rulefile.FormatClaudeSettings {
		left = append(left, rulefile.LeftOut(file)...)
	}
	for _, problem := range left {
		fmt.Fprintf(a.Stderr, a.Text.Of("left out: %s\n"), view.Visible(problem.Error()))
	}
	show := func(r umpire.Rule) {
		fmt.Fprintf(a.Stdout, "%-5s  %s\n", r.Action, view.Visible(policy.FormatShort(r)))
	}
	if dryRun {
		for _, r := range rules {
			show(r)
		}
		return nil
	}
	return a.WithGate(ctx, app.PersonCredential, func(gate umpire.Gate) error {
		for _, r := range rules {
			if _, err := gate.Rules().Add(ctx, a.Dir, app.ScopeOf(to), r, umpire.Actor{}); err != nil {
				return err
			}
			show(r)
		}
		fmt.Fprintf(a.Stdout, a.Text.Of("%s imported into %s")+"\n", a.Text.Count(len(rules), "%d rule", "%d rules"),
			view.Visible(to.Path))
		remarkAsleep(a, p, to, umpire.Allow)
		return nil
	})
}

// importLong is the long help of `umpire rules import`.
const importLong = `Copies the rules of another tool's file into umpire's own rule file of a scope.
It names and skips each rule that it cannot copy exactly; no rule becomes wider.

FORMAT is claude (settings.json or permissions.yml, by the file's name),
claude-settings, claude-yaml, muse or umpire. To keep reading the other file
instead of copying it, list it under rules.also_read in config.yaml.`
