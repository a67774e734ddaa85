// Package rules is the commands about rules and their effect:
//
//   - `umpire rules` and `umpire rules trust` list, add, remove and test rules, and put those of a project's files
//     in force; `umpire programs` shows the facts that umpire knows about programs.
//   - `umpire why`, `stats`, `replay` and `suggest` look back over the timeline: which rules decided, which questions
//     people answered, how other rules would have decided, and which rules would have saved questions.
//   - `umpire task` approves in advance what a task needs.
//   - `umpire bench` scores a judge of commands, umpire or a hook, on labelled lines: how often it allows commands
//     that must not run unasked, and how often it asks needlessly. Commands are judged and never run; a hook is run.
package rules

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/view"
	phrases "github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
)

// NewCommand is `umpire rules`.
func NewCommand(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "rules", Args: app.RefuseUnknownCommand,
		Short:   "List, add, remove and test rules",
		Long:    long,
		Example: rulesExample,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newRulesListCommand(a), newRulesAddCommand(a), newRulesRemoveCommand(a),
		newRulesTestCommand(a), newRulesLintCommand(a), newRulesProveCommand(a), newRulesImportCommand(a))
	return cmd
}

// newRulesListCommand is `umpire rules list`.
func newRulesListCommand(a *app.App) *cobra.Command {
	asJSON, builtin := false, false
	cmd := &cobra.Command{
		Use: "list", Args: app.RefuseWords,
		Short:   "List the rules in force here",
		Long:    listLong,
		Example: "  umpire rules list\n  umpire rules list --json\n  umpire rules list --builtin",
		RunE: func(*cobra.Command, []string) error {
			p, err := a.OpenProject()
			if err != nil {
				return err
			}
			rules := inListOrder(p.Rules().Rules)
			if builtin {
				rules = append(rules, policy.Builtin()...)
			}
			if asJSON {
				return app.Failed(a.ShowJSON(listedRules(rules, p.Config.RulesOff)))
			}
			err = app.Failed(errors.Join(showRules(a, p.Rules(), rules, p.Config.RulesOff),
				showHooks(a.Stdout, a.Text, append(slices.Clip(p.Rules().Hooks), p.Config.Hooks...))))
			off := func(f rulefile.File) bool { return f.Health == rulefile.HealthDegraded }
			if err == nil && slices.ContainsFunc(p.Rules().Files, off) {
				return &app.CommandError{Code: app.ExitUsage}
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	cmd.Flags().BoolVar(&builtin, "builtin", false, "also list umpire's built-in rules")
	return cmd
}

// listOrder is the order of sources: the nearest first.
var listOrder = []umpire.Source{umpire.SourceProject, umpire.SourceUser, umpire.SourceManaged}

// inListOrder sorts rules by source and keeps the order of each file.
func inListOrder(rules []umpire.Rule) []umpire.Rule {
	sorted := slices.Clone(rules)
	slices.SortStableFunc(sorted, func(x, y umpire.Rule) int {
		return slices.Index(listOrder, x.Source) - slices.Index(listOrder, y.Source)
	})
	return sorted
}

// A listedRule is a rule with its position.
type listedRule struct {
	umpire.Rule
	Short  string        `json:"short"`
	Source umpire.Source `json:"source"`
	File   string        `json:"file,omitempty"`
	Line   int           `json:"line,omitempty"`
	// Switchable says that rules.off can switch the rule off, and Off that it does.
	Switchable bool `json:"switchable,omitempty"`
	Off        bool `json:"off,omitempty"`
}

func listedRules(rules []umpire.Rule, off []umpire.RuleID) []listedRule {
	listed := make([]listedRule, len(rules))
	for i, r := range rules {
		can := switchable(r)
		r.Description, r.Says = phrases.English.Text(r.Reason()), ""
		listed[i] = listedRule{r, policy.FormatShort(r), r.Source, r.File, r.Line, can,
			can && slices.Contains(off, r.ID)}
	}
	return listed
}

// switchable reports a rule that rules.off can switch off.
func switchable(r umpire.Rule) bool {
	return r.Source == umpire.SourceBuiltin && slices.Contains(policy.Switchable(), r.ID)
}

// showRules writes rules as a table, and says why others are missing from it.
func showRules(a *app.App, set *rulefile.Set, rules []umpire.Rule, off []umpire.RuleID) error {
	table := app.NewTable(a.Stdout)
	table.Head(a.Text, "SOURCE", "ID", "ACTION", "RULE", "DESCRIPTION", "FILE")
	for _, r := range rules {
		about := describeRule(a.Text, a.Now(), r, off)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", r.Source, app.Clip(view.Visible(string(r.ID))), r.Action,
			app.Clip(view.Visible(policy.FormatShort(r))), app.Clip(view.Visible(about)), view.Visible(placeOf(r)))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	remarkSleeping(a, set)
	return nil
}

// describeRule is a rule's description, and when it ends, that it has ended, or whether
// rules.off switches it off.
func describeRule(text *phrases.Language, now time.Time, r umpire.Rule, off []umpire.RuleID) string {
	if switchable(r) {
		state := text.Of("rules.off can switch it off")
		if slices.Contains(off, r.ID) {
			state = text.Of("switched off by rules.off")
		}
		return view.Bracketed(text.Reason(r.Reason()), state)
	}
	return view.DescribeRule(&r, text, now)
}

func placeOf(r umpire.Rule) string {
	if r.File == "" || r.Line == 0 {
		return r.File
	}
	return fmt.Sprintf("%s:%d", r.File, r.Line)
}

// remarkSleeping reports rules that are in a file but not in force.
func remarkSleeping(a *app.App, set *rulefile.Set) {
	for _, f := range set.Files {
		switch {
		case f.Health == rulefile.HealthDegraded:
			a.Remark(fmt.Sprintf(a.Text.Of("the rules of %s are off: see umpire rules lint"), f.Path))
		case f.Health == rulefile.HealthUntrusted && f.Inert > 0:
			a.Remark(fmt.Sprintf(a.Text.Of("%s: %s; see umpire rules trust --show"), f.Path,
				a.Text.Count(f.Inert, "%d allow rule inactive", "%d allow rules inactive")))
		}
		if n := len(f.AsleepHooks()); n > 0 {
			a.Remark(fmt.Sprintf(a.Text.Of("%s: %s; see umpire rules trust --show"), f.Path,
				a.Text.Count(n, "%d hook inactive", "%d hooks inactive")))
		}
	}
}

// showHooks writes the hooks that are in force, below the rules.
func showHooks(out io.Writer, text *phrases.Language, hooks []rulefile.Hook) error {
	if len(hooks) == 0 {
		return nil
	}
	fmt.Fprintf(out, "\n%s\n", text.Of("hooks"))
	table := app.NewTable(out)
	for i := range hooks {
		h := &hooks[i]
		failure := "block"
		if h.Skip {
			failure = "skip"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s:%d\n", h.Source, app.Clip(view.Visible(h.ID)), h.Event,
			app.Clip(view.Visible(strings.Join(h.Tools(), "|"))),
			app.Clip(view.Visible(cmp.Or(h.Fault, h.Command))), h.Limit(), failure, view.Visible(h.File), h.Line)
	}
	return table.Flush()
}

// long is the long help of `umpire rules`.
const long = `A rule allows, asks about or denies what a call would do. Rules are kept in
files that you can read and review: .umpire/permissions.json in the project, and
permissions.json in ~/.umpire for all projects.

  Bash(npm test:*)            commands that begin with these words
  Read(~/go/pkg/mod/**)       paths; so are LS, Glob, Grep, Write, Edit, Delete
  WebFetch(domain:pkg.go.dev) hosts
  mcp__github__*              tools by name
  *                           everything

Deny beats ask, ask beats allow, wherever the rules stand. A command line is
judged part by part, and an allow rule has to cover every part. A rule for
reading covers every read, even by "cat"; rules for writing and hosts work alike.

Only a person can change rules: umpire refuses a process that an agent started.`

const rulesExample = `  umpire rules list
  umpire rules add allow 'Bash(npm test:*)' --scope project
  umpire rules add deny 'Edit(*.lock)' --scope global --description "lock files are made, not written"
  umpire rules remove tests`

// listLong is the long help of `umpire rules list`.
const listLong = `Lists the rules in force here: the project's first, then the global ones, then the
administrator's. Inactive rules of an untrusted file and the lost rules of a broken
file are not listed; a remark mentions them.`
