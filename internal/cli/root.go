package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/cli/hosts"
	"github.com/umpirehq/umpire/internal/cli/rules"
	"github.com/umpirehq/umpire/internal/cli/run"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// Commands are listed in the order in which a newcomer needs them. The switch is
// one for the whole process.
func init() { cobra.EnableCommandSorting = false }

// newRootCommand is the command tree.
func newRootCommand(a *app.App) *cobra.Command {
	root := &cobra.Command{
		Use: "umpire", Short: rootShort, Long: rootLong,
		SilenceErrors: true, SilenceUsage: true,
		Args:              app.RefuseUnknownCommand,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error { return refuseAgents(a, cmd, args) },
	}
	ruleSet, sessions, console := rules.NewCommand(a), newSessionsCommand(a), newConsoleCommand(a)
	ruleSet.AddCommand(rules.NewTrustCommand(a), newGrantsCommand(a))
	sessions.AddCommand(newModeCommand(a))
	console.AddCommand(newPairCommand(a), newNotifyCommand(a))
	setup := hosts.NewSetupCommand(a)
	setup.AddCommand(newUpgradeCommand(a), hosts.NewUninstallCommand(a))
	root.AddCommand(run.NewDemoCommand(a, run.Demo{ShowRecord: showRecord, NewConsole: newDemoConsole}),
		setup, hosts.NewDoctorCommand(a), run.NewCheckCommand(a), run.NewTryCommand(a), run.NewUndoCommand(a),
		newWatchCommand(a), console, newTimelineCommand(a), newStatusCommand(a), ruleSet, newAutonomyCommand(a),
		rules.NewWhyCommand(a), rules.NewStatsCommand(a), rules.NewReplayCommand(a),
		rules.NewTaskCommand(a), newSecretsCommand(a),
		rules.NewSuggestCommand(a, func(level string) error { return setAutonomy(a.Home(), level) }),
		newPendingCommand(a), newApproveCommand(a), newDenyCommand(a), newCancelCommand(a), sessions,
		newServeCommand(a), run.NewChatCommand(a, rules.Desks, rules.Suggestions), run.NewCommand(a),
		newConfigCommand(a),
		rules.NewProgramsCommand(a), rules.NewBenchCommand(a), newCompletionCommand(a), newVersionCommand(a),
		hosts.NewHookCommand(a), run.NewExecCommand(a), hosts.NewProxyCommand(a), newManCommand(a),
		hosts.NewConformanceCommand(a))
	root.AddCommand(newTopics(a)...)
	addVersionFlag(a.Stdout, root)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return app.Usage(cmd.CommandPath()+" --help", "%w", explainFlag(err))
	})
	root.SetHelpCommand(newHelpCommand(a))
	usualHelp := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd != root {
			usualHelp(cmd, args)
			return
		}
		_ = showHelp(a.Stdout, a.Text, root, false) // the output keeps its error
	})
	if a.Text != nil {
		root.PersistentFlags().BoolP("help", "h", false, "show this help")
		root.SetUsageFunc(translatedUsage(root.UsageFunc(), a.Text))
		translateHelp(root, a.Text)
	}
	return root
}

// translateHelp puts the help of a command, and of those below it, into the person's language.
func translateHelp(cmd *cobra.Command, text *catalogue.Language) {
	cmd.Short, cmd.Long = text.Of(cmd.Short), text.Of(cmd.Long)
	translate := func(f *pflag.Flag) { translateFlag(f, text) }
	cmd.Flags().VisitAll(translate)
	cmd.PersistentFlags().VisitAll(translate)
	for _, sub := range cmd.Commands() {
		translateHelp(sub, text)
	}
}

// translateFlag translates a flag's description and its default, because the library adds a
// non-zero default in English.
func translateFlag(f *pflag.Flag, text *catalogue.Language) {
	f.Usage = text.Of(f.Usage)
	switch kind := f.Value.Type(); {
	case text == catalogue.English:
	case kind == "string" && f.DefValue != "":
		f.Usage += fmt.Sprintf(text.Of(" (default %s)"), strconv.Quote(f.DefValue))
		f.DefValue = ""
	case (kind == "int" || kind == "float64") && f.DefValue != "0":
		f.Usage += fmt.Sprintf(text.Of(" (default %s)"), f.DefValue)
		f.DefValue = "0"
	}
}

// valueWords describe the values of flags, by type.
var valueWords = map[string]error{
	"bool": errors.New("true or false"), "float64": errors.New("a number"),
	"int": errWholeNumber, "int64": errWholeNumber,
}

var errWholeNumber = errors.New("a whole number")

// explainFlag describes an error in a flag's value, without the words of the parsing
// library.
func explainFlag(err error) error {
	bad, isValue := errors.AsType[*pflag.InvalidValueError](err)
	if !isValue {
		return explainUnknownFlag(err)
	}
	want, known := valueWords[bad.GetFlag().Value.Type()]
	if !known {
		return err
	}
	if errors.Is(err, strconv.ErrRange) {
		want = errors.New("a smaller number")
	}
	return umpire.Errorf("--%s %q: want %v", bad.GetFlag().Name, bad.GetValue(), want)
}

// explainUnknownFlag turns the library's error about an unknown flag or a missing value
// into one of umpire's, in the same words.
func explainUnknownFlag(err error) error {
	if unknown, is := errors.AsType[*pflag.NotExistError](err); is {
		if letters := unknown.GetSpecifiedShortnames(); letters != "" {
			return umpire.Errorf("unknown shorthand flag: %q in -%s", unknown.GetSpecifiedName()[0], letters)
		}
		return umpire.Errorf("unknown flag: --%s", unknown.GetSpecifiedName())
	}
	if bare, is := errors.AsType[*pflag.ValueRequiredError](err); is {
		if letters := bare.GetSpecifiedShortnames(); letters != "" {
			return umpire.Errorf("flag needs an argument: %q in -%s", bare.GetSpecifiedName()[0], letters)
		}
		return umpire.Errorf("flag needs an argument: --%s", bare.GetSpecifiedName())
	}
	return err
}

// knownTopic rejects help on an unknown command or topic.
func knownTopic(cmd *cobra.Command, args []string) error {
	if _, rest, err := cmd.Root().Find(args); err != nil || len(rest) > 0 {
		return app.Usage(cmd.Root().CommandPath()+" help", "%q is neither a command nor a topic",
			strings.Join(args, " "))
	}
	return nil
}

// usageHeadings are the library's headings in the usage of a command, each on a separate line.
var usageHeadings = []string{
	"Usage:", "Aliases:", "Examples:", "Available Commands:", "Global Flags:", "Flags:",
	"Additional help topics:",
}

// usageEnd is the library's last line in the usage of a command with subcommands.
const usageEnd = `Use "%s [command] --help" for more information about a command.`

// translatedUsage shows the library's usage in the person's language. It does not use a template:
// one that calls methods by name would keep every exported method of every package in the program.
func translatedUsage(usage func(*cobra.Command) error, text *catalogue.Language) func(*cobra.Command) error {
	return func(cmd *cobra.Command) error {
		out := cmd.OutOrStderr()
		var shown bytes.Buffer
		cmd.SetOut(&shown)
		err := usage(cmd)
		cmd.SetOut(out)
		for line := range strings.Lines(shown.String()) {
			plain := strings.TrimSuffix(line, "\n")
			switch {
			case slices.Contains(usageHeadings, plain):
				line = text.Of(plain) + "\n"
			case plain == fmt.Sprintf(usageEnd, cmd.CommandPath()):
				line = fmt.Sprintf(text.Of(usageEnd), cmd.CommandPath()) + "\n"
			}
			if _, failed := io.WriteString(out, line); err == nil {
				err = failed
			}
		}
		return err
	}
}
