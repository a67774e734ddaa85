package rules

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/rulefile/prove"
	"github.com/umpirehq/umpire/internal/rulefile/wildcard"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/policy"
)

// A proveCommand is `umpire rules prove` with its flags.
type proveCommand struct {
	*app.App

	autonomy    string
	asked, json bool
}

// newRulesProveCommand is `umpire rules prove`.
func newRulesProveCommand(a *app.App) *cobra.Command {
	c := proveCommand{App: a}
	cmd := &cobra.Command{
		Use: "prove", Args: app.RefuseUnknownCommand,
		Short:   "Answer questions about all calls that the rules can tell apart",
		Long:    proveLong,
		Example: proveExample,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	can := &cobra.Command{
		Use: "can VERB TARGET", Args: app.WantWords("VERB", "TARGET"),
		Short:   "Ask whether any call can read, write, delete, run or reach something",
		Long:    canLong,
		Example: "  umpire rules prove can write ~/.ssh\n  umpire rules prove can run 'git push:*'",
		RunE:    func(_ *cobra.Command, words []string) error { return c.can(words[0], words[1]) },
	}
	can.Flags().BoolVar(&c.asked, "asked", false, "also count calls that ask")
	applies := &cobra.Command{
		Use: "applies [RULE]", Args: app.WantAtMostOneWord,
		Short:   "Ask whether a rule, or each rule, ever decides",
		Long:    appliesLong,
		Example: "  umpire rules prove applies\n  umpire rules prove applies 'Bash(npm test:*)'",
		RunE:    func(_ *cobra.Command, words []string) error { return c.applies(words) },
	}
	conflict := &cobra.Command{
		Use: "conflict RULE RULE", Args: app.WantWords("RULE", "RULE"),
		Short:   "Ask whether two rules with different actions match one access",
		Long:    conflictLong,
		Example: "  umpire rules prove conflict 'Edit(src/**)' 'Edit(*.lock)'",
		RunE:    func(_ *cobra.Command, words []string) error { return c.conflict(words[0], words[1]) },
	}
	wider := &cobra.Command{
		Use: "wider FILE FILE", Args: app.WantWords("FILE", "FILE"),
		Short:   "Ask what the second rule file allows that the first one does not",
		Long:    widerLong,
		Example: "  umpire rules prove wider old.json new.json",
		RunE:    func(_ *cobra.Command, words []string) error { return c.wider(words[0], words[1]) },
	}
	for _, sub := range []*cobra.Command{can, applies, conflict, wider} {
		sub.Flags().StringVar(&c.autonomy, "autonomy", "", "decide as at this `LEVEL`: low, medium or high")
		sub.Flags().BoolVar(&c.json, "json", false, "write JSON")
		app.CompleteWords(sub, "autonomy", config.LevelNames()...)
		cmd.AddCommand(sub)
	}
	return cmd
}

// newWorld returns the world of the working directory with further rules. Its calls are checked by the judge of
// umpire check, under the same settings.
func (c *proveCommand) newWorld(more []umpire.Rule) (*prove.World, error) {
	if c.autonomy != "" && !slices.Contains(config.LevelNames(), c.autonomy) {
		return nil, app.Usage("umpire rules prove --help", "--autonomy: want one of %s, got %q",
			strings.Join(config.LevelNames(), ", "), c.autonomy)
	}
	conf, err := c.LoadConfig(c.Dir)
	if err != nil {
		return nil, err
	}
	mode, err := app.PickMode("--mode", "", false, conf)
	if err != nil {
		return nil, err
	}
	profile, err := app.ProfileOf(conf, "")
	if err != nil {
		return nil, err
	}
	settings := c.GateConfig(conf)
	settings.Rules = more
	if c.autonomy != "" {
		settings.Settings.Autonomy = policy.Level(c.autonomy).Autonomy()
	}
	held := gate.Holds(&settings.Settings, sandbox.Available())
	g := gate.New(settings) // it reads the rules once, so there is nothing to close
	p, err := g.Projects().Project(c.Dir)
	if err != nil {
		return nil, app.Failed(umpire.Errorf("open the project of %s: %w", c.Dir, err))
	}
	given := policy.Conditions{Mode: mode, Profile: profile, Now: c.Now(), Degraded: p.Rules().Degraded}
	given.Sandbox = settings.Settings.Sandbox
	given.Sandbox.Held = held
	w, err := prove.New(prove.Setting{
		Rules: p.Holding(p.Rules()), Options: p.PolicyOptions(), Given: given, Programs: loadPrograms(c.App).Known,
		PlaceOf: p.PlaceOf, Landmarks: p.Landmarks(),
		Check: func(call umpire.Call) umpire.Decision {
			call.Dir = c.Dir
			conditions := policy.Conditions{Mode: mode, Profile: profile, Sandbox: policy.Sandbox{Held: held}}
			return g.Projects().Decide(c.Dir, policy.Query{Call: call, Conditions: conditions})
		},
	})
	return w, app.Failed(err)
}

// verbs are the verbs of `umpire rules prove can`.
var verbs = map[string]umpire.AccessKind{
	"read": umpire.KindRead, "write": umpire.KindWrite, "delete": umpire.KindDelete, "run": umpire.KindExec,
	"reach": umpire.KindNetwork,
}

func (c *proveCommand) can(verb, what string) error {
	kind, known := verbs[verb]
	if !known {
		return app.Usage("umpire rules prove can write src", "can %q: want read, write, delete, run or reach", verb)
	}
	w, err := c.newWorld(nil)
	if err != nil {
		return err
	}
	q := prove.Question{Kind: kind, Asked: c.asked}
	switch kind {
	case umpire.KindExec:
		q.Line, q.Words = strings.CutSuffix(what, ":*")
	case umpire.KindNetwork:
		q.Host = what
	case umpire.KindRead, umpire.KindWrite, umpire.KindDelete:
		q.Patterns = patternsOf(c.App, what, w.Options.Home)
	case umpire.KindUnknown, umpire.KindInvoke:
	}
	answer := w.Can(q)
	return newProof(&answer, true).present(c.App, c)
}

// patternsOf returns the absolute patterns of a path: its own, and that of all files below a folder.
func patternsOf(a *app.App, what, home string) []string {
	if rest, below := strings.CutPrefix(what, "~"); below && home != "" {
		what = home + rest
	}
	name := a.Absolute(what)
	info, err := os.Stat(name)
	switch {
	case err != nil && strings.ContainsAny(what, "*?[{"):
		return []string{name}
	case err == nil && info.IsDir() || strings.HasSuffix(what, "/"):
		return []string{wildcard.Escape(name) + "/**"}
	}
	return []string{wildcard.Escape(name)}
}

// findRule returns the index of the rule with an id or a short form.
func findRule(w *prove.World, name string) (int, error) {
	for _, named := range []func(r *umpire.Rule) bool{
		func(r *umpire.Rule) bool { return string(r.ID) == name },
		func(r *umpire.Rule) bool { return policy.FormatShort(*r) == name },
	} {
		if at := slices.IndexFunc(w.Rules, func(r umpire.Rule) bool { return named(&r) }); at >= 0 {
			return at, nil
		}
	}
	return 0, app.Usage("umpire rules list", "no rule in force has the id or short form %q", name)
}

func (c *proveCommand) applies(words []string) error {
	w, err := c.newWorld(nil)
	if err != nil {
		return err
	}
	if len(words) > 0 {
		at, err := findRule(w, words[0])
		if err != nil {
			return err
		}
		answer := w.Applies(at)
		return newProof(&answer, false).present(c.App, c)
	}
	proofs := make([]*proof, len(w.Rules))
	for at := range w.Rules {
		answer := w.Applies(at)
		proofs[at] = newProof(&answer, false)
		proofs[at].Of = policy.FormatShort(w.Rules[at])
	}
	return c.Show(c.json, proofs, func() error {
		if len(proofs) == 0 {
			fmt.Fprintln(c.Stdout, c.Text.Of("no rules"))
		}
		for at, p := range proofs {
			r := w.Rules[at]
			fmt.Fprintf(c.Stdout, "%s %s (%s)\n", r.Action, view.Visible(p.Of), view.Visible(placeOf(r)))
			p.tell(c.Stdout, c.Text, "  ")
		}
		return nil
	})
}

func (c *proveCommand) conflict(one, other string) error {
	w, err := c.newWorld(nil)
	if err != nil {
		return err
	}
	at, err := findRule(w, one)
	if err != nil {
		return err
	}
	with, err := findRule(w, other)
	if err != nil {
		return err
	}
	answer := w.Conflicts(at, with)
	return newProof(&answer, false).present(c.App, c)
}

func (c *proveCommand) wider(one, other string) error {
	worlds := make([]*prove.World, 0, 2)
	memo := prove.NewMemo()
	for _, name := range []string{one, other} {
		rules, err := rulesIn(c.App, name)
		if err != nil {
			return err
		}
		w, err := c.newWorld(rules)
		if err != nil {
			return err
		}
		w.Memo = memo
		worlds = append(worlds, w)
	}
	answer := worlds[0].Wider(worlds[1])
	p := newProof(&answer, true)
	switch err := p.present(c.App, c); answer.Result {
	case prove.Yes:
		if err == nil {
			err = &app.CommandError{Code: app.ExitWidens}
		}
		return err
	case prove.No:
		return nil
	case prove.Undecided:
		return err
	}
	return nil
}

// rulesIn reads the rules of a file, as `umpire check --rules` does.
func rulesIn(a *app.App, name string) ([]umpire.Rule, error) {
	p, err := a.OpenProject()
	if err != nil {
		return nil, err
	}
	layers, err := findLayers(a, p, []string{name})
	if err != nil {
		return nil, err
	}
	set := rulefile.Load(layers, nil, p.Options())
	for _, file := range set.Files {
		if len(file.Problems) > 0 {
			return nil, app.Usage("umpire rules lint", "%s: %w", name, file.Problems[0])
		}
	}
	return set.Rules, nil
}

// proveLong is the long help of `umpire rules prove`.
const proveLong = `Answers questions about all calls at once, and not only about examples. Rules can tell
only so many classes of accesses apart; umpire finds a shortest call of every class and
decides it. A "no" therefore holds for every access of the model. A "yes" comes with a
call, which umpire decides again as "umpire check" does.

The model holds single files, commands with one option and hosts. Not part of it are
effects of code that umpire cannot read, searches of whole folders, wildcards that a
shell expands, and paths with a colon or a backslash. A question that needs too many
steps, or depends on more than the rules, is undecided, with the reason.

The exit code is 0 for yes, 2 for no and 3 for undecided. "wider" ends with 7 for yes
and 0 for no.`

const proveExample = `  umpire rules prove can write ~/.ssh
  umpire rules prove can run 'git push:*' --autonomy high
  umpire rules prove applies
  umpire rules prove conflict 'Edit(src/**)' 'Edit(*.lock)'
  umpire rules prove wider old.json new.json`

// canLong is the long help of `umpire rules prove can`.
const canLong = `Asks whether any call can read, write or delete a path, run a command or reach a host
without a question. A path is a file, a folder or a pattern; a folder means everything
in it. A command may end in ":*" for all commands that begin with its words, and a host
begin with "*." for those below a domain.`

// appliesLong is the long help of `umpire rules prove applies`.
const appliesLong = `Asks whether a rule ever decides a call. Otherwise it matches nothing, or other rules
always decide first. Without RULE it answers for each rule. Name a rule by its id or in
its short form, as "umpire rules list" shows them.`

// conflictLong is the long help of `umpire rules prove conflict`.
const conflictLong = `Asks whether two rules with different actions match one access, and shows such a call
with the decision that the order of decision gives.`

// widerLong is the long help of `umpire rules prove wider`.
const widerLong = `Asks whether the second rule file allows a call that the first one does not, each added to
the rules in force, as by "umpire check --rules". The example is a shortest such call.
The exit code is 7 if there is one.`
