package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/view"
)

// Surroundings are all that the program knows of the world it was started in;
// tests give their own.
type surroundings struct {
	args           []string // without the program's name
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	dir            string // working directory
	executable     string // absolute path of this program, "" when it cannot be told
	terminal       bool   // a person sits at standard input and output
	toTerminal     bool   // standard output is a terminal
	// device is the terminal that the process belongs to, whatever its standard
	// streams are; "" when there is none to be had.
	device string
	// ancestors are the processes that this one descends from; nil knows of none.
	ancestors func() []ancestor
	now       func() time.Time
}

// outermost is the process at which looking for ancestors ends; tests set it, since
// who started them has no bearing on what they start.
var outermost int

// system returns the surroundings of the process.
func system() surroundings {
	dir, err := os.Getwd()
	if err != nil {
		dir = ""
	}
	executable, err := os.Executable()
	if err != nil {
		executable = ""
	}
	return surroundings{
		args: os.Args[1:], stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		getenv: os.Getenv, dir: dir, executable: executable,
		terminal: isTerminal(os.Stdin) && isTerminal(os.Stdout), toTerminal: isTerminal(os.Stdout), device: ownTerminal,
		ancestors: func() []ancestor { return ancestors(outermost) }, now: time.Now,
	}
}

// run is the whole program as a function of its surroundings. It returns the
// exit code.
func run(ctx context.Context, s surroundings) int {
	out := &output{w: s.stdout}
	s.stdout = out
	a := &app{surroundings: s}
	a.text = language(a.getenv)
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

// An output remembers that writing failed, so that commands may print line by
// line: what nobody could read did not succeed.
type output struct {
	w   io.Writer
	err error // the first failure
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// An app is the program with what its commands share.
type app struct {
	surroundings
	text view.Catalogue
}

// userHome is the person's home directory, "" when it is not known.
func (a *app) userHome() string { return host.UserHome(a.getenv) }

// home is umpire's own folder.
func (a *app) home() string { return host.Home(a.getenv, a.dir) }
