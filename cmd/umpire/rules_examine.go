package main

import (
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/policy"
)

// rulesTestCommand is `umpire rules test`.
func (a *app) rulesTestCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "test [FILE...]",
		Short:   a.text.of("Hold every rule to its own examples"),
		Long:    a.text.of(rulesTestLong),
		Example: "  umpire rules test\n  umpire rules test shared/permissions.json",
		RunE: func(_ *cobra.Command, files []string) error {
			p, done, err := a.place()
			if err != nil {
				return err
			}
			defer done()
			layers, err := a.layersOf(p, files)
			if err != nil {
				return err
			}
			return a.testRules(p, layers)
		},
	}
}

// layersOf are the files that are named, or those that count here.
func (a *app) layersOf(p *place, files []string) ([]rulefile.Layer, error) {
	if len(files) == 0 {
		return p.Layers(), nil
	}
	var layers []rulefile.Layer
	for _, name := range files {
		file := a.absolute(name)
		layer := rulefile.Layer{Source: umpire.SourceFlag, Path: file, Format: rulefile.FormatOf(file)}
		set := rulefile.Load([]rulefile.Layer{layer}, nil, p.Options())
		if set.Files[0].Health == rulefile.HealthMissing {
			return nil, usage("", "%s: no such file", name)
		}
		layers = append(layers, layer)
	}
	return layers, nil
}

// testRules loads the files with a check that keeps score. Loading checks every
// rule, those that sleep too.
func (a *app) testRules(p *place, layers []rulefile.Layer) error {
	var mu sync.Mutex
	passed, failures, without := 0, []string(nil), 0
	options := p.Options()
	check := options.Check
	options.Check = func(r umpire.Rule) error {
		err := check(r)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			failures = append(failures, fmt.Sprintf("%s: %s %s: %v", orText(placeOf(r), "?"), r.ID, policy.FormatShort(r), err))
		case len(r.Examples.Match)+len(r.Examples.NotMatch) == 0:
			without++
		default:
			passed += len(r.Examples.Match) + len(r.Examples.NotMatch)
		}
		return err
	}
	set := rulefile.Load(layers, nil, options)
	for _, text := range failures {
		fmt.Fprintf(a.stdout, "%s  %s\n", a.text.of("FAIL"), visible(text))
	}
	for _, f := range set.Files {
		if f.Hash != "" && f.Health == rulefile.HealthDegraded && len(failures) == 0 {
			for _, problem := range f.Problems {
				fmt.Fprintln(a.stdout, a.text.of("FAIL")+"  "+visible(problem.Error()))
				failures = append(failures, problem.Text)
			}
		}
	}
	fmt.Fprintf(a.stdout, a.text.of("%d examples hold, %d rules fail, %d rules have no examples\n"), passed, len(failures), without)
	if len(failures) > 0 {
		return &exit{code: exitUsage}
	}
	return nil
}

// rulesLintCommand is `umpire rules lint`.
func (a *app) rulesLintCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "lint [FILE...]",
		Short:   a.text.of("Say what is wrong in the rule files, and where"),
		Long:    a.text.of(rulesLintLong),
		Example: "  umpire rules lint\n  umpire rules lint .claude/settings.json",
		RunE: func(_ *cobra.Command, files []string) error {
			p, done, err := a.place()
			if err != nil {
				return err
			}
			defer done()
			layers, err := a.layersOf(p, files)
			if err != nil {
				return err
			}
			return a.lintRules(p, layers)
		},
	}
}

func (a *app) lintRules(p *place, layers []rulefile.Layer) error {
	found := 0
	for _, l := range layers {
		for _, problem := range rulefile.Lint(l, p.Options()) {
			fmt.Fprintln(a.stdout, visible(problem.Error()))
			found++
		}
	}
	if found > 0 {
		return &exit{code: exitUsage}
	}
	_, err := fmt.Fprintln(a.stdout, a.text.of("nothing is wrong"))
	return failed(err)
}
