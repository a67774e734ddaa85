package rules

import (
	"cmp"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/rulefile/prove"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/policy"
)

// newRulesTestCommand is `umpire rules test`.
func newRulesTestCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:     "test [FILE...]",
		Short:   "Test every rule against its own examples",
		Long:    testLong,
		Example: "  umpire rules test\n  umpire rules test shared/permissions.json",
		RunE:    onLayers(a, testRules),
	}
}

// findLayers are the files that are named, or those that count here.
func findLayers(a *app.App, p *app.OpenedProject, files []string) ([]rulefile.Layer, error) {
	if len(files) == 0 {
		return p.Layers(), nil
	}
	var layers []rulefile.Layer
	for _, name := range files {
		file := a.Absolute(name)
		layer := rulefile.Layer{Source: umpire.SourceFlag, Path: file, Format: rulefile.FormatOf(file)}
		set := rulefile.Load([]rulefile.Layer{layer}, nil, p.Options())
		if set.Files[0].Health == rulefile.HealthMissing {
			return nil, app.Usage("", "%s: no such file", name)
		}
		layers = append(layers, layer)
	}
	return layers, nil
}

// A score is the result of checking rules against their examples.
type score struct {
	mu       sync.Mutex
	seen     map[string]bool // a faulty rule is replaced, and checked again
	examples int             // examples that hold
	without  int             // rules without examples
	failures []string
}

// countResult adds the result of one rule.
func (s *score) countResult(r umpire.Rule, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := fmt.Sprintf("%s: %s", cmp.Or(placeOf(r), "?"), r.ID)
	switch known := s.seen[name]; {
	case known:
	case err != nil:
		s.failures = append(s.failures, fmt.Sprintf("%s %s: %v", name, policy.FormatShort(r), err))
	case len(r.Examples.Match)+len(r.Examples.NotMatch) == 0:
		s.without++
	default:
		s.examples += len(r.Examples.Match) + len(r.Examples.NotMatch)
	}
	s.seen[name] = true
}

// testRules loads the files with a check that keeps score. Loading checks every
// rule, those that sleep too.
func testRules(a *app.App, p *app.OpenedProject, layers []rulefile.Layer) error {
	s := &score{seen: map[string]bool{}}
	options := p.Options()
	check := options.Check
	options.Check = func(r umpire.Rule) error {
		err := check(r)
		s.countResult(r, err)
		return err
	}
	for _, f := range rulefile.Load(layers, nil, options).Files {
		if len(s.failures) > 0 {
			break
		}
		// The rules of a file that cannot be read cannot be tested.
		for _, problem := range f.Problems {
			s.failures = append(s.failures, problem.Error())
		}
	}
	for _, text := range s.failures {
		fmt.Fprintf(a.Stdout, "%s  %s\n", a.Text.Of("FAIL"), view.Visible(text))
	}
	fmt.Fprintln(a.Stdout, view.List([]string{a.Text.Count(s.examples, "%d example holds", "%d examples hold"),
		a.Text.Count(len(s.failures), "%d failure", "%d failures"),
		a.Text.Count(s.without, "%d rule has no examples", "%d rules have no examples")}, ", "))
	if len(s.failures) > 0 {
		return &app.CommandError{Code: app.ExitUsage}
	}
	return nil
}

// onLayers runs a command over the named files, or over those of the project.
func onLayers(a *app.App, examine func(*app.App, *app.OpenedProject, []rulefile.Layer) error) func(*cobra.Command,
	[]string) error {
	return func(_ *cobra.Command, files []string) error {
		p, err := a.OpenProject()
		if err != nil {
			return err
		}
		layers, err := findLayers(a, p, files)
		if err != nil {
			return err
		}
		return examine(a, p, layers)
	}
}

// newRulesLintCommand is `umpire rules lint`.
func newRulesLintCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:     "lint [FILE...]",
		Short:   "Check the rule files for errors",
		Long:    lintLong,
		Example: "  umpire rules lint\n  umpire rules lint .claude/settings.json",
		RunE:    onLayers(a, lintRules),
	}
}

func lintRules(a *app.App, p *app.OpenedProject, layers []rulefile.Layer) error {
	found := 0
	for _, l := range layers {
		for _, problem := range rulefile.Lint(l, p.Options()) {
			fmt.Fprintln(a.Stdout, view.Visible(problem.Error()))
			found++
		}
	}
	if found > 0 {
		return &app.CommandError{Code: app.ExitUsage}
	}
	if warned, err := warnIdle(a, p, layers); warned || err != nil {
		return app.Failed(err)
	}
	_, err := fmt.Fprintln(a.Stdout, a.Text.Of("no problems found"))
	return app.Failed(err)
}

// warnIdle warns about rules that decide nothing, and reports whether there are any.
func warnIdle(a *app.App, p *app.OpenedProject, layers []rulefile.Layer) (warned bool, err error) {
	set := rulefile.Load(layers, nil, p.Options())
	w, err := prove.New(prove.Setting{
		Rules: set.Rules, Options: p.PolicyOptions(), Programs: loadPrograms(a).Known, PlaceOf: p.PlaceOf,
		Given: policy.Conditions{Mode: umpire.ModeDefault, Now: a.Now()}, Landmarks: p.Landmarks(),
	})
	if err != nil {
		return false, err
	}
	findings, whole := w.Lint()
	for _, f := range findings {
		said := a.Text.Of("matches nothing")
		if len(f.By) > 0 {
			said = fmt.Sprintf(a.Text.Of("never decides: %s (%s) always does first"), f.By[0].ID,
				placeOf(umpire.Rule{File: f.By[0].File, Line: f.By[0].Line}))
		}
		line := fmt.Sprintf(a.Text.Of("%s: warning: the rule %s %s"), placeOf(f.Rule), policy.FormatShort(f.Rule), said)
		fmt.Fprintln(a.Stdout, view.Visible(line))
	}
	if !whole {
		a.Remark(a.Text.Of("there are too many rules to look for all that never decide"))
	}
	return len(findings) > 0, nil
}

// testLong is the long help of `umpire rules test`.
const testLong = `Tests every rule against its own examples and lists the failures. Without FILES it
tests the rule files that apply here, inactive rules too. The exit code is 4 if a
rule fails.`

// lintLong is the long help of `umpire rules lint`.
const lintLong = `Checks the rule files that apply here, or the FILES, and reports each error as
FILE:LINE:COLUMN: MESSAGE. For an unknown key it suggests the nearest known one. The
exit code is 4 if there are errors.

Without errors it warns about rules that match nothing, and about rules that never
decide because others always do first.`
