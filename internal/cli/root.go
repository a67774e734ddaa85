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
	"github.com/umpirehq/umpire/internal/cli/bench"
	"github.com/umpirehq/umpire/internal/cli/check"
	"github.com/umpirehq/umpire/internal/cli/doctor"
	"github.com/umpirehq/umpire/internal/cli/hook"
	"github.com/umpirehq/umpire/internal/cli/programs"
	"github.com/umpirehq/umpire/internal/cli/proxy"
	"github.com/umpirehq/umpire/internal/cli/register"
	"github.com/umpirehq/umpire/internal/cli/rules"
	"github.com/umpirehq/umpire/internal/cli/run"
	"github.com/umpirehq/umpire/internal/cli/try"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// The groups of commands in the root's help.
const (
	groupFirst = "first"
	groupGate  = "gate"
	groupRules = "rules"
	groupLook  = "look"
)

// Commands are listed in the order in which a newcomer needs them. The switch is
// one for the whole process.
func init() { cobra.EnableCommandSorting = false }

// newRootCommand is the command tree.
func newRootCommand(a *app.App) *cobra.Command {
	root := &cobra.Command{
		Use: "umpire", Short: rootShort, Long: rootLong, Example: rootExample,
		SilenceErrors: true, SilenceUsage: true,
		Args:              app.RefuseUnknownCommand,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error { return refuseAgents(a, cmd, args) },
	}
	root.AddGroup(
		&cobra.Group{ID: groupFirst, Title: "Where to begin:"},
		&cobra.Group{ID: groupGate, Title: "Calls that wait:"},
		&cobra.Group{ID: groupRules, Title: "Rules:"},
		&cobra.Group{ID: groupLook, Title: "Looking:"},
	)
	addGroup(root, groupFirst, run.NewDemoCommand(a, run.Demo{ShowRecord: showRecord, NewConsole: newDemoConsole}),
		register.NewSetupCommand(a),
		register.NewCommand(a), check.NewCommand(a),
		doctor.NewCommand(a), try.NewCommand(a), try.NewUndoCommand(a),
		newServeCommand(a), run.NewChatCommand(a), run.NewCommand(a))
	addGroup(root, groupGate, newPendingCommand(a), newApproveCommand(a), newDenyCommand(a), newCancelCommand(a),
		newWatchCommand(a), newConsoleCommand(a), newNotifyCommand(a), newPairCommand(a), newSessionsCommand(a),
		newModeCommand(a), newGrantsCommand(a), newTimelineCommand(a))
	addGroup(root, groupRules, rules.NewCommand(a), rules.NewTrustCommand(a), programs.NewCommand(a))
	addGroup(root, groupLook, newStatusCommand(a), newConfigCommand(a), newAutonomyCommand(a), hook.NewCommand(a),
		proxy.NewACPCommand(a), proxy.NewAppServerCommand(a), proxy.NewMCPCommand(a),
		try.NewExecCommand(a), bench.NewCommand(a), newVersionCommand(a),
		newUpgradeCommand(a), register.NewUninstallCommand(a))
	root.AddCommand(newManCommand(a), doctor.NewOldCommand(a))
	root.AddCommand(newTopics(a)...)
	addGroup(root, groupLook, newCompletionCommand(a))
	addVersionFlag(a, root)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return app.Usage(cmd.CommandPath()+" --help", "%w", explainFlag(err))
	})
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Args, help.Short, help.Long = knownTopic, "Help about any command",
			"Shows the help of a command or of a topic."
	}
	if a.Text != nil {
		root.PersistentFlags().BoolP("help", "h", false, "show this help")
		root.SetUsageFunc(translatedUsage(root.UsageFunc(), a.Text))
		translateHelp(root, a.Text)
	}
	return root
}

// addGroup adds commands that the root's help lists in a group.
func addGroup(root *cobra.Command, group string, commands ...*cobra.Command) {
	for _, cmd := range commands {
		cmd.GroupID = group
	}
	root.AddCommand(commands...)
}

// translateHelp puts the help of a command, and of those below it, into the person's language.
func translateHelp(cmd *cobra.Command, text *catalogue.Language) {
	cmd.Short, cmd.Long = text.Of(cmd.Short), text.Of(cmd.Long)
	for _, group := range cmd.Groups() {
		group.Title = text.Of(group.Title)
	}
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
	"Usage:", "Aliases:", "Examples:", "Available Commands:", "Additional Commands:", "Global Flags:", "Flags:",
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
