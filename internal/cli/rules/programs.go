package rules

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/shell"
)

// programsLong is the long help of `umpire programs`.
const programsLong = `umpire judges a command by its knowledge of programs: which options are harmless,
which write, delete, run something or reach a host, and what the operands are. An
unknown program asks.

You can teach umpire new programs with files in ~/.umpire/programs; their format is
in docs/programs.md.`

// programsListLong is the long help of `umpire programs list`.
const programsListLong = `Lists the programs umpire knows: your own first, then the built-in ones. Words narrow
the list to names that contain one of them.`

// showLong is the long help of `umpire programs show`.
const showLong = `Shows umpire's knowledge of a program or of one of its subcommands: the risk and its
reason, the options by effect, the operands, the subcommands, and the source.`

// programsLintLong is the long help of `umpire programs lint`.
const programsLintLong = `Reads ~/.umpire/programs, tests every entry against its own examples, and reports the
errors. umpire ignores an entry with an error, so its program asks.`

// NewProgramsCommand is `umpire programs`.
func NewProgramsCommand(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "programs", Args: app.RefuseUnknownCommand,
		Short:   "Show umpire's knowledge of programs",
		Long:    programsLong,
		Example: "  umpire programs show tar\n  umpire programs show git push\n  umpire programs lint",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newProgramsListCommand(a), newProgramsShowCommand(a), newProgramsLintCommand(a))
	return cmd
}

// newProgramsListCommand is `umpire programs list`.
func newProgramsListCommand(a *app.App) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:     "list [WORD...]",
		Short:   "List the programs umpire knows",
		Long:    programsListLong,
		Example: "  umpire programs list\n  umpire programs list zip tar\n  umpire programs list --json",
		RunE: func(_ *cobra.Command, words []string) error {
			loaded := loadPrograms(a)
			var listed []shell.Program
			for p := range shell.Programs(loaded.Known) {
				if namedLike(p, words) {
					listed = append(listed, p)
				}
			}
			return a.Show(asJSON, describedAll(listed), func() error { return showPrograms(a.Stdout, a.Text, listed) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

// loadPrograms reads the person's files and remarks on their errors.
func loadPrograms(a *app.App) rulefile.Programs {
	loaded := rulefile.LoadPrograms(a.Home())
	for _, note := range loaded.Notes() {
		a.RemarkError(note)
	}
	return loaded
}

func namedLike(p shell.Program, words []string) bool {
	if len(words) == 0 {
		return true
	}
	return slices.ContainsFunc(words, func(word string) bool {
		return slices.ContainsFunc(p.Names, func(name string) bool { return strings.Contains(name, word) })
	})
}

func showPrograms(out io.Writer, text *catalogue.Language, listed []shell.Program) error {
	table := app.NewTable(out)
	for _, p := range listed {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", view.Visible(listedNames(p.Names)), p.Risk,
			view.Visible(originOf(text, p)), app.Clip(view.Visible(text.Reason(p.Why))))
	}
	return table.Flush()
}

// widestNames limits the column of names. Otherwise a program with many names would
// push the other columns off the screen.
const widestNames = 32

// listedNames lists as many names as fit, and says how many are left out.
func listedNames(names []string) string {
	text := names[0]
	for i, name := range names[1:] {
		more := fmt.Sprintf(" +%d", len(names)-1-i)
		if len(text)+1+len(name)+len(more) > widestNames {
			return text + more
		}
		text += " " + name
	}
	return text
}

func originOf(text *catalogue.Language, p shell.Program) string {
	return cmp.Or(p.Origin, text.Of("built in"))
}

// newProgramsShowCommand is `umpire programs show`.
func newProgramsShowCommand(a *app.App) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:     "show NAME [SUBCOMMAND...]",
		Short:   "Show umpire's knowledge of a program",
		Long:    showLong,
		Example: "  umpire programs show tar\n  umpire programs show git push --json",
		RunE: func(_ *cobra.Command, words []string) error {
			if len(words) == 0 {
				return app.Usage("umpire programs list", "want the name of a program")
			}
			p, err := findProgram(a, words)
			if err != nil {
				return err
			}
			return a.Show(asJSON, describedOf(p), func() error { return showProgram(a.Stdout, a.Text, words, p) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

// findProgram finds a program, and the subcommand that the further words name.
func findProgram(a *app.App, words []string) (shell.Program, error) {
	p, ok := shell.Describe(words[0], loadPrograms(a).Known)
	if !ok {
		return p, app.Refused("umpire help programs", "umpire does not know %q, so it asks", words[0])
	}
	for i, word := range words[1:] {
		at := slices.IndexFunc(p.Subs, func(sub shell.Program) bool { return slices.Contains(sub.Names, word) })
		if at < 0 {
			return p, app.Refused("umpire programs show "+strings.Join(words[:i+1], " "),
				"umpire does not know the subcommand %q of %s, so it asks", word, strings.Join(words[:i+1], " "))
		}
		origin := p.Origin
		p = p.Subs[at]
		p.Origin = origin
	}
	return p, nil
}

// newProgramsLintCommand is `umpire programs lint`.
func newProgramsLintCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "lint", Args: app.RefuseWords,
		Short:   "Check your program files for errors",
		Long:    programsLintLong,
		Example: "  umpire programs lint",
		RunE: func(*cobra.Command, []string) error {
			loaded := rulefile.LoadPrograms(a.Home())
			for _, problem := range loaded.Problems {
				fmt.Fprintln(a.Stdout, view.Visible(problem.Error()))
			}
			if len(loaded.Problems) > 0 {
				return &app.CommandError{Code: app.ExitUsage}
			}
			_, err := fmt.Fprintln(a.Stdout, a.Text.Of("no problems found"))
			return app.Failed(err)
		},
	}
}

// A describedProgram is a program in JSON.
type describedProgram struct {
	Names       []string           `json:"names"`
	Risk        umpire.Risk        `json:"risk"`
	Consequence umpire.Consequence `json:"consequence"`
	Why         umpire.Phrase      `json:"why"`
	Source      string             `json:"source"`            // "builtin", or FILE:LINE
	Checked     string             `json:"checked,omitempty"` // the version and the text that it was checked against
	Style       string             `json:"style,omitempty"`
	Args        string             `json:"args,omitempty"`
	Lax         bool               `json:"lax,omitempty"`
	Judged      bool               `json:"judged_by_code,omitempty"`
	Options     []describedOption  `json:"options,omitempty"`
	Subs        []describedProgram `json:"subs,omitempty"`
}

// A describedOption is an option in JSON.
type describedOption struct {
	Names       []string      `json:"names"`
	Does        []string      `json:"does,omitempty"`
	Why         umpire.Phrase `json:"why,omitempty"`
	Consequence string        `json:"consequence,omitempty"`
	Except      []string      `json:"except,omitempty"`
}

func describedOf(p shell.Program) describedProgram {
	d := describedProgram{
		Names: p.Names, Risk: p.Risk, Consequence: p.StatedConsequence(), Why: p.Why,
		Source: cmp.Or(p.Origin, "builtin"), Checked: p.Checked,
		Style: p.Style, Args: p.Args, Lax: p.Lax, Judged: p.Judged,
	}
	for _, o := range p.Options {
		d.Options = append(d.Options, describedOption(o))
	}
	for _, sub := range p.Subs {
		sub.Origin = p.Origin
		d.Subs = append(d.Subs, describedOf(sub))
	}
	return d
}

func describedAll(listed []shell.Program) []describedProgram {
	all := make([]describedProgram, len(listed))
	for i, p := range listed {
		all[i] = describedOf(p)
	}
	return all
}
