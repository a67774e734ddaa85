package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/llm"
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
func newRootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use: "umpire", Short: a.text.of(rootShort), Long: a.text.of(rootLong), Example: rootExample,
		SilenceErrors: true, SilenceUsage: true,
		Args:              noSuchCommand,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: a.admit,
	}
	root.AddGroup(
		&cobra.Group{ID: groupFirst, Title: a.text.of("Where to begin:")},
		&cobra.Group{ID: groupGate, Title: a.text.of("Calls that wait:")},
		&cobra.Group{ID: groupRules, Title: a.text.of("Rules:")},
		&cobra.Group{ID: groupLook, Title: a.text.of("Looking:")},
	)
	init, doctor, hook := newInitCommand(a), newDoctorCommand(a), newHookCommand(a)
	init.GroupID, doctor.GroupID, hook.GroupID = groupFirst, groupFirst, groupLook
	root.AddCommand(newDemoCommand(a), init, newCheckCommand(a), doctor, newServeCommand(a), newChatCommand(a), newRunCommand(a),
		newPendingCommand(a), newApproveCommand(a), newDenyCommand(a), newCancelCommand(a), newWatchCommand(a), newSessionsCommand(a), newModeCommand(a), newGrantsCommand(a), newTimelineCommand(a),
		newRulesCommand(a), newTrustCommand(a), newProgramsCommand(a),
		newStatusCommand(a), newConfigCommand(a), hook, newBenchCommand(a), newVersionCommand(a), newManCommand(a))
	root.AddCommand(newTopics(a)...)
	root.AddCommand(newCompletionCommand(a))
	addVersionFlag(a, root)
	root.SetUsageTemplate(translateUsage(a, root.UsageTemplate()))
	if a.text != nil {
		root.PersistentFlags().BoolP("help", "h", false, a.text.of("show this help"))
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage(cmd.CommandPath()+" --help", "%w", plainFlag(err))
	})
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Args, help.Short, help.Long = knownTopic, a.text.of("Help about any command"), a.text.of("Shows the help of a command or of a topic.")
	}
	return root
}

// plainFlag says what is wrong with a number without the words of the library that
// read it.
func plainFlag(err error) error {
	bad, isValue := errors.AsType[*pflag.InvalidValueError](err)
	number, isNumber := errors.AsType[*strconv.NumError](err)
	if !isValue || !isNumber {
		return err
	}
	return fmt.Errorf("--%s %q: want a whole number: %w", bad.GetFlag().Name, bad.GetValue(), number.Err)
}

// knownTopic refuses to help with what there is not.
func knownTopic(cmd *cobra.Command, args []string) error {
	if _, rest, err := cmd.Root().Find(args); err != nil || len(rest) > 0 {
		return usage(cmd.Root().CommandPath()+" help", "%q is neither a command nor a topic", strings.Join(args, " "))
	}
	return nil
}

// usageWords are the library's own words in the usage of a command.
var usageWords = []string{
	"Usage:", "Aliases:", "Examples:", "Available Commands:", "Additional Commands:", "Global Flags:", "Flags:", "Additional help topics:",
	`Use "{{.CommandPath}} [command] --help" for more information about a command.`,
}

// translateUsage is how usage is shown, in the person's language.
func translateUsage(a *app, english string) string {
	var pairs []string
	for _, words := range usageWords {
		pairs = append(pairs, words, a.text.of(words))
	}
	return strings.NewReplacer(pairs...).Replace(english)
}

// noSuchCommand refuses a word that is no command, and names the nearest ones.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := cmd.CommandPath() + " --help"
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = cmd.CommandPath() + " " + strings.Join(near, ", "+cmd.CommandPath()+" ")
	}
	return usage(hint, "%q is not a command", args[0])
}

// noWords refuses words after a command that takes none.
func noWords(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usage(cmd.CommandPath()+" --help", "%s takes no words, got %q", cmd.CommandPath(), args[0])
}

// words wants a number of words after a command, and says which.
func words(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		return usage(cmd.CommandPath()+" --help", "want %s", strings.Join(names, " "))
	}
}

// completeModes completes a flag with the modes.
func completeModes(a *app, cmd *cobra.Command, flag string) {
	completeWords(cmd, flag, modeNames()...)
}

// completeAgentFlags completes the flags of a command that runs the built-in agent.
func completeAgentFlags(a *app, cmd *cobra.Command) {
	completeModes(a, cmd, "permission-mode")
	completeWords(cmd, "sandbox", config.SandboxModes...)
	completeWords(cmd, "effort", llm.Efforts...)
	completeWith(cmd, "agent", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		c, err := a.config(a.dir)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp // the command itself will say so
		}
		return slices.Sorted(maps.Keys(c.Agents)), cobra.ShellCompDirectiveNoFileComp
	})
	completeWith(cmd, "model", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return modelKinds, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}

// modelKinds begin the names of models.
var modelKinds = []string{"anthropic:", "openai:", "openai-responses:", "openai-chat:", "script:"}

// modeNames are the names of all modes.
func modeNames() []string {
	var names []string
	for m := umpire.ModeReject; m <= umpire.ModeBypass; m++ {
		names = append(names, m.String())
	}
	return names
}

// completeWords completes a flag with fixed words.
func completeWords(cmd *cobra.Command, flag string, words ...string) {
	completeWith(cmd, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

func completeWith(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(errors.New("completion for a flag that is not there: " + flag))
	}
}
