package rules

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/policy"
)

// ruleFlags are the flags of `umpire rules add`.
type ruleFlags struct {
	scope, id, description, expires string
	consequence, options            string
	match, notMatch                 []string
	yes                             bool
}

// newRulesAddCommand is `umpire rules add`.
func newRulesAddCommand(a *app.App) *cobra.Command {
	var f ruleFlags
	cmd := &cobra.Command{
		Use: "add ACTION RULE", Args: app.WantWords("ACTION", "RULE"),
		Short:             "Add a rule: allow, ask or deny",
		Long:              addLong,
		Example:           rulesAddExample,
		ValidArgsFunction: completeActions,
		RunE: func(cmd *cobra.Command,
			args []string) error {
			return addRule(cmd.Context(), a, &f, args[0], args[1])
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.scope, "scope", "project", "`SCOPE`: project or global")
	flags.StringVar(&f.id, "id", "", "the rule's `ID` (default: made from the rule)")
	flags.StringVar(&f.description, "description", "", "`TEXT` that is shown as the reason")
	flags.StringVar(&f.expires, "expires", "", "`WHEN` it ends: 2027-01-01, an RFC 3339 time, or a duration such as 8h")
	flags.StringVar(&f.consequence, "max-consequence", "",
		"the worst `CONSEQUENCE` that it allows: none, reversible, outward or lost")
	flags.StringVar(&f.options, "options", "",
		"`shown`: also allow options that the rule does not name, if they do no more")
	app.CompleteWords(cmd, "max-consequence", "none", "reversible", "outward", "lost")
	app.CompleteWords(cmd, "options", "shown")
	flags.StringArrayVar(&f.match, "example", nil, "a `CALL` the rule must match; may be repeated")
	flags.StringArrayVar(&f.notMatch, "not-example", nil, "a `CALL` the rule must not match; may be repeated")
	flags.BoolVar(&f.yes, "yes", false, "add the rule even if it looks like a mistake")
	app.CompleteWords(cmd, "scope", "project", "global")
	return cmd
}

func completeActions(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return []cobra.Completion{"allow", "ask", "deny"}, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

func addRule(ctx context.Context, a *app.App, f *ruleFlags, action, short string) error {
	rule, err := f.rule(action, short, a.Now())
	if err != nil {
		return err
	}
	p, err := a.OpenProject()
	if err != nil {
		return err
	}
	layer, err := p.Layer(f.scope)
	if err != nil {
		return err
	}
	// A rule that fails its check is wrong usage, not a failed write.
	if err := p.Options().Check(rule); err != nil {
		return app.Usage("umpire help rules", "%w", err)
	}
	remark, err := tryRule(a, p, layer.Source, rule)
	if err != nil {
		return err
	}
	if doubt := doubtRule(a.Text, rule); doubt != "" && !f.yes {
		if err := confirmRule(ctx, a, doubt, []string{action, short}); err != nil {
			return err
		}
	}
	if id, there := p.Writer().Find(layer, rule); there {
		fmt.Fprintf(a.Stdout, a.Text.Of("already there: %s in %s\n"), view.Visible(string(id)),
			view.Visible(layer.Path))
		return nil
	}
	return a.WithGate(ctx, app.PersonCredential, func(gate umpire.Gate) error {
		id, err := gate.Rules().Add(ctx, a.Dir, app.ScopeOf(layer), rule, umpire.Actor{})
		if err != nil {
			return err
		}
		fmt.Fprintf(a.Stdout, a.Text.Of("added %s to %s\n"), view.Visible(string(id)), view.Visible(layer.Path))
		fmt.Fprintln(a.Stdout, view.Visible(describeCoverage(a.Text, rule)))
		if remark != "" {
			a.Remark(remark)
		}
		remarkAsleep(a, p, layer, rule.Action)
		return nil
	})
}

// addSuggested adds a rule that `umpire suggest` found, as [addRule] does for a person.
func addSuggested(ctx context.Context, a *app.App, scope string, r umpire.Rule) error {
	f := ruleFlags{scope: scope, options: string(r.Options), description: r.Description}
	if r.MaxConsequence != umpire.Lost {
		f.consequence = r.MaxConsequence.String()
	}
	return addRule(ctx, a, &f, r.Action.String(), policy.FormatShort(r))
}

// remarkAsleep says when the new rule is not in force yet.
func remarkAsleep(a *app.App, p *app.OpenedProject, l rulefile.Layer, action umpire.Verdict) {
	if action != umpire.Allow {
		return
	}
	for _, f := range rulefile.Load(p.Layers(), nil, p.Options()).Files {
		if f.Layer == l && f.Health == rulefile.HealthUntrusted {
			a.Remark(a.Text.Of("it is inactive, like the file's other allow rules, until you run umpire rules trust"))
		}
	}
}

// rule makes the rule from the words and flags.
func (f *ruleFlags) rule(action, short string, now time.Time) (umpire.Rule, error) {
	r, err := policy.ParseShort(short)
	if err != nil {
		return r, app.Usage("umpire help rules", "%w", err)
	}
	if err := r.Action.UnmarshalText([]byte(action)); err != nil {
		return r, app.Usage("umpire rules add --help", "action %q: want allow, ask or deny", action)
	}
	r.ID, r.Description = umpire.RuleID(f.id), f.description
	r.Examples = umpire.Examples{Match: f.match, NotMatch: f.notMatch}
	if f.consequence != "" {
		if err := r.MaxConsequence.UnmarshalText([]byte(f.consequence)); err != nil {
			return r, app.Usage("umpire rules add --help", "--max-%w", err)
		}
	}
	r.Options = umpire.OptionLimit(f.options)
	if f.expires == "" {
		return r, nil
	}
	r.ExpiresAt, err = app.Expiry(f.expires, now)
	return r, err
}

// newRulesRemoveCommand is `umpire rules remove`.
func newRulesRemoveCommand(a *app.App) *cobra.Command {
	scope := ""
	cmd := &cobra.Command{
		Use: "remove ID", Args: app.WantWords("ID"),
		Short:             "Remove a rule",
		Long:              removeLong,
		Example:           "  umpire rules remove tests\n  umpire rules remove tests --scope global",
		ValidArgsFunction: completeRules(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			return removeRule(cmd.Context(), a, umpire.RuleID(args[0]), scope)
		},
	}
	cmd.Flags().StringVar(&scope, "scope", "", "`SCOPE`: project or global (default: where the rule is)")
	app.CompleteWords(cmd, "scope", "project", "global")
	return cmd
}

// completeRules completes a word with the ids of the rules in umpire's own files.
func completeRules(a *app.App) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		p, err := a.OpenProject()
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var ids []cobra.Completion
		for _, r := range p.Rules().Rules {
			ids = append(ids, cobra.CompletionWithDesc(string(r.ID), r.Action.String()+" "+policy.FormatShort(r)))
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}

func removeRule(ctx context.Context, a *app.App, id umpire.RuleID, scope string) error {
	p, err := a.OpenProject()
	if err != nil {
		return err
	}
	var layers []rulefile.Layer
	for _, s := range app.Scopes {
		if scope != "" && scope != s.Word {
			continue
		}
		layer, err := p.Layer(s.Word)
		switch {
		case err == nil:
			layers = append(layers, layer)
		case scope != "":
			return err
		}
	}
	if scope != "" && len(layers) == 0 {
		return app.Usage("", "--scope %q: want project or global", scope)
	}
	return a.WithGate(ctx, app.PersonCredential, func(gate umpire.Gate) error {
		for _, layer := range layers {
			err := gate.Rules().Remove(ctx, a.Dir, app.ScopeOf(layer), id, umpire.Actor{})
			if errors.Is(err, umpire.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.Stdout, a.Text.Of("removed %s from %s\n"), view.Visible(string(id)),
				view.Visible(layer.Path))
			return app.Failed(err)
		}
		return &app.CommandError{Code: app.ExitError,
			Err: umpire.Errorf("no rule %q in the files that umpire writes", id), Hint: "umpire rules list"}
	})
}

// addLong is the long help of `umpire rules add`.
const addLong = `Adds a rule to umpire's own rule file of a scope: "project" is
.umpire/permissions.json in this project, "global" is yours for all projects.

ACTION is allow, ask or deny. RULE is the short form; see umpire rules --help.
Examples are kept with the rule and checked whenever the file loads: a rule that
fails its own examples never allows.`

const rulesAddExample = `  umpire rules add allow 'Bash(go test:*)'
  umpire rules add allow 'Bash(make:*)' --expires 8h --description "this evening only"
  umpire rules add ask 'Bash(git push:*)' --scope global
  umpire rules add allow 'Bash(npm test:*)' --example 'npm test -- -u' --not-example 'npm testify'`

// removeLong is the long help of `umpire rules remove`.
const removeLong = `Removes every rule with the ID from umpire's own rule files: the project's, or
else the global one. "umpire rules list" shows the ids.`
