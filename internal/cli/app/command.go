package app

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
)

// ForPrograms is the annotation of commands for programs, which no suggestion names.
const ForPrograms = "for programs"

// RefuseUnknownCommand refuses an unknown command, and names the nearest ones.
func RefuseUnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := cmd.CommandPath() + " --help"
	cmd.SuggestionsMinimumDistance = 2
	near := slices.DeleteFunc(cmd.SuggestionsFor(args[0]), func(name string) bool {
		sub, _, err := cmd.Find([]string{name})
		return err != nil || sub.Annotations[ForPrograms] != ""
	})
	if len(near) > 0 {
		hint = cmd.CommandPath() + " " + strings.Join(near, ", "+cmd.CommandPath()+" ")
	}
	return Usage(hint, "%q is not a command", args[0])
}

// RefuseWords rejects words after a command without arguments.
func RefuseWords(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return Usage(cmd.CommandPath()+" --help", "%s takes no arguments, got %q", cmd.CommandPath(), args[0])
}

// WantAtMostOneWord refuses more than one word after a command.
func WantAtMostOneWord(cmd *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return Usage(cmd.CommandPath()+" --help", "%s takes at most one argument, got %q", cmd.CommandPath(), args[1])
}

// WantWords requires exactly these words after a command.
func WantWords(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > len(names) {
			args = nil
		}
		return WantWordsFrom(names...)(cmd, args)
	}
}

// WantWordsFrom requires at least these words.
func WantWordsFrom(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= len(names) {
			return nil
		}
		return Usage(cmd.CommandPath()+" --help", "want %s", strings.Join(names, " "))
	}
}

// CompleteWords completes a flag with fixed words.
func CompleteWords(cmd *cobra.Command, flag string, words ...string) {
	CompleteWith(cmd, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// CompleteWith completes a flag. A flag that does not exist is a mistake in the program.
func CompleteWith(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(errors.New("completion for a flag that is not there: " + flag))
	}
}

// ModeNames are the names of all modes.
func ModeNames() []string {
	var names []string
	for m := umpire.ModeReject; m <= umpire.ModeBypass; m++ {
		names = append(names, m.String())
	}
	return names
}

// Expiry reads a day, a time or a duration from now.
func Expiry(text string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(d).UTC().Truncate(time.Second), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil && t.After(now) {
			return t, nil
		} else if err == nil {
			return t, Usage("", "--expires %q: is already in the past", text)
		}
	}
	return time.Time{}, Usage("", "--expires %q: want a day (2027-01-01), an RFC 3339 time or a duration (8h)", text)
}
