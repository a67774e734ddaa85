package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A section is a group of commands in the help of the program.
type section struct{ title, verbs string }

// The help of the program shows the first sections, and with --all the others too.
var (
	firstSections = []section{
		{"Begin with:", "setup doctor"},
		{"What an agent does:", "check try undo watch console timeline"},
		{"What holds here:", "status rules autonomy task"},
	}
	otherSections = []section{
		{"Calls that wait, without a screen:", "pending approve deny cancel sessions"},
		{"Looking back:", "why stats replay suggest"},
		{"The gate and the built-in agent:", "serve chat run demo"},
		{"Settings and knowledge:", "config secrets programs bench completion version"},
		{"Started by programs:", "hook exec proxy"},
	}
)

// showHelp writes the help of the program.
func showHelp(out io.Writer, text *catalogue.Language, root *cobra.Command, all bool) error {
	var b strings.Builder
	b.WriteString(root.Long + "\n")
	sections := firstSections
	if all {
		sections = slices.Concat(firstSections, otherSections)
	}
	for _, s := range sections {
		fmt.Fprintf(&b, "\n%s\n", text.Of(s.title))
		for verb := range strings.FieldsSeq(s.verbs) {
			if cmd, _, err := root.Find([]string{verb}); err == nil {
				fmt.Fprintf(&b, "  %-10s  %s\n", verb, cmd.Short)
			}
		}
	}
	b.WriteString("\n" + text.Of(helpEnd))
	_, err := fmt.Fprintln(out, b.String())
	return app.Failed(err)
}

// newHelpCommand is `umpire help`.
func newHelpCommand(a *app.App) *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use: "help [COMMAND]", Args: knownTopic, Short: "Explain a command or a topic", Hidden: true,
		Long: "Shows the help of a command or of a topic.",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, _, err := cmd.Root().Find(args)
			if err != nil || about == cmd.Root() {
				return showHelp(a.Stdout, a.Text, cmd.Root(), all)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "list every command")
	return cmd
}
