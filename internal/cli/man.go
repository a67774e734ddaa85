package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/umpirehq/umpire/internal/cli/app"
)

// newManCommand is `umpire man DIR`, which packagers use.
func newManCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Hidden: true, Args: app.WantWords("DIR"),
		Short:   "Write the manual pages",
		Long:    "Writes one manual page for each command into DIR.",
		Example: "  umpire man /usr/local/share/man/man1",
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := a.Absolute(args[0])
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return app.Failed(err)
			}
			return app.Failed(writeManual(dir, cmd.Root()))
		},
	}
}

// writeManual writes the page of a command and those of its subcommands.
func writeManual(dir string, cmd *cobra.Command) error {
	cmd.InitDefaultHelpFlag()
	var b strings.Builder
	manPage(&b, cmd)
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
	if err := os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o644); err != nil {
		return err
	}
	for _, sub := range cmd.Commands() {
		if sub.Hidden || sub.Name() == "help" {
			continue
		}
		if err := writeManual(dir, sub); err != nil {
			return err
		}
	}
	return nil
}

// manPage writes one page in roff.
func manPage(w io.Writer, cmd *cobra.Command) {
	dashed := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	fmt.Fprintf(w, ".TH \"%s\" \"1\" \"\" \"umpire\" \"umpire\"\n", strings.ToUpper(dashed))
	fmt.Fprintf(w, ".SH NAME\n%s \\- %s\n", roff(dashed), roff(cmd.Short))
	if cmd.Runnable() {
		fmt.Fprintf(w, ".SH SYNOPSIS\n\\fB%s\\fP\n", roff(cmd.UseLine()))
	}
	if cmd.Long != "" {
		fmt.Fprintf(w, ".SH DESCRIPTION\n%s", block(cmd.Long))
	}
	manFlags(w, "OPTIONS", cmd.NonInheritedFlags())
	if cmd.Example != "" {
		fmt.Fprintf(w, ".SH EXAMPLES\n%s", block(cmd.Example))
	}
	manSeeAlso(w, cmd)
}

func manFlags(w io.Writer, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(w, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, about := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		fmt.Fprintf(w, ".TP\n\\fB%s\\fP %s\n%s\n", roff(name), roff(value), roff(about))
	})
}

func manSeeAlso(w io.Writer, cmd *cobra.Command) {
	var pages []string
	if cmd.HasParent() {
		pages = append(pages, strings.ReplaceAll(cmd.Parent().CommandPath(), " ", "-"))
	}
	for _, sub := range cmd.Commands() {
		if !sub.Hidden && sub.Name() != "help" {
			pages = append(pages, strings.ReplaceAll(sub.CommandPath(), " ", "-"))
		}
	}
	if len(pages) == 0 {
		return
	}
	for i := range pages {
		pages[i] = `\fB` + roff(pages[i]) + `\fP(1)`
	}
	fmt.Fprintf(w, ".SH SEE ALSO\n%s\n", strings.Join(pages, ", "))
}

// block formats text whose lines must not change.
func block(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = roff(lines[i])
	}
	return ".nf\n" + strings.Join(lines, "\n") + "\n.fi\n"
}

// roff escapes text for roff.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		return `\&` + text
	}
	return text
}
