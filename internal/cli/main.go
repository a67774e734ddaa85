// Package cli is the program umpire: its commands, their flags and texts, and the wiring of
// everything else.
package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/cli/hosts"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/internal/view/languages"
)

// Main runs the program with the arguments, environment and streams of this process, and
// ends the process.
func Main() {
	sandbox.Main() // before anything else: this may be the sandbox of a command
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := runProgram(ctx, app.ReadSurroundings())
	stop()
	os.Exit(code)
}

// runProgram is the whole program as a function of its surroundings. It returns the
// exit code.
func runProgram(ctx context.Context, s app.Surroundings) int {
	out := &app.Output{W: s.Stdout}
	s.Stdout = out
	a := &app.App{Surroundings: s, Text: chooseLanguage(s.Getenv)}
	if code, ok := hosts.AnswerFast(ctx, a); ok {
		return code
	}
	root := newRootCommand(a)
	root.SetArgs(renameVerb(a.Stderr, a.Text, s.Args))
	root.SetIn(s.Stdin)
	root.SetOut(s.Stdout)
	root.SetErr(s.Stderr)
	ran, err := root.ExecuteContextC(ctx)
	if err == nil && out.Err != nil {
		err = app.Failed(umpire.Errorf("write standard output: %w", out.Err))
	}
	if err != nil && err.Error() != "" {
		said := a.Text.Error(err)
		for _, kind := range []error{umpire.ErrState, umpire.ErrInvalid} { // the exit code says so
			if rest, found := strings.CutSuffix(said, a.Text.Error(kind)); found {
				said = strings.TrimRight(rest, ":： ")
			}
		}
		fmt.Fprintf(s.Stderr, "umpire: %s\n", view.Visible(said))
		if hint := app.HintOf(ran.CommandPath(), err); hint != "" {
			fmt.Fprintln(s.Stderr, view.Joined(a.Text.Of("next"), ": ", a.Text.Of(hint)))
		}
	}
	return app.ExitCode(err)
}

// chooseLanguage returns the person's language: that of UMPIRE_LANG, or else of the POSIX variables.
func chooseLanguage(getenv func(string) string) *catalogue.Language {
	for _, name := range []string{"UMPIRE_LANG", "LC_ALL", "LC_MESSAGES", "LANG"} {
		if value := getenv(name); value != "" {
			return languages.Find(value)
		}
	}
	return catalogue.English
}
