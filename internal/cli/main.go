// Package cli is the program umpire: its commands, their flags and texts, and the wiring of
// everything else.
package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/umpirehq/umpire/internal/sandbox"
	"github.com/umpirehq/umpire/internal/view"
)

// Main runs the program with the arguments, environment and streams of this process, and
// ends the process.
func Main() {
	sandbox.Main() // before anything else: this may be the sandbox of a command
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := runProgram(ctx, readSurroundings())
	stop()
	os.Exit(code)
}

// runProgram is the whole program as a function of its surroundings. It returns the
// exit code.
func runProgram(ctx context.Context, s surroundings) int {
	out := &output{w: s.stdout}
	s.stdout = out
	a := &App{surroundings: s, text: chooseLanguage(s.getenv), language: catalogueFor}
	if code, ok := answerHookFast(ctx, a); ok {
		return code
	}
	root := newRootCommand(a)
	root.SetArgs(s.args)
	root.SetIn(s.stdin)
	root.SetOut(s.stdout)
	root.SetErr(s.stderr)
	err := root.ExecuteContext(ctx)
	if err == nil && out.err != nil {
		err = failed(fmt.Errorf("write standard output: %w", out.err))
	}
	if err != nil && err.Error() != "" {
		fmt.Fprintf(s.stderr, "umpire: %s\n", view.Visible(a.text.Problem(err.Error())))
		if hint := hintOf(err); hint != "" {
			fmt.Fprintln(s.stderr, view.Joined(a.text.Of("next"), ": ", a.text.Problem(hint)))
		}
	}
	return exitCode(err)
}
