// Package app has the code that all commands of umpire share: the streams, arguments and
// environment of the process as values, the configuration, the connection to the gate, exit
// codes, and the check that a person is present. It does not know any command.
package app

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/hold/process"
	"github.com/umpirehq/umpire/internal/host/relay"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// Surroundings are everything the program reads from its process: streams, arguments,
// environment. Tests provide their own.
type Surroundings struct {
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Dir            string // working directory
	Executable     string // absolute path of this program, "" if unknown
	Terminal       bool   // a person sits at standard input and output
	ToTerminal     bool   // standard output is a terminal
	// device is the controlling terminal, independent of the standard streams; "" if the
	// process has no terminal.
	device string
	// ancestors returns the ancestors of this process; if nil, they are unknown.
	ancestors func() []ancestor
	Now       func() time.Time
}

// ReadSurroundings returns the surroundings of the process.
func ReadSurroundings() Surroundings {
	dir, err := os.Getwd()
	if err != nil {
		dir = ""
	}
	executable, err := os.Executable()
	if err != nil {
		executable = ""
	}
	return Surroundings{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Dir: dir, Executable: executable,
		Terminal: IsTerminal(os.Stdin) && IsTerminal(os.Stdout), ToTerminal: IsTerminal(os.Stdout), device: ownTerminal,
		ancestors: func() []ancestor { return findAncestors(process.Outermost) }, Now: time.Now,
	}
}

// An Output remembers a failed write, so commands may print line by line. A command
// whose output was lost has failed.
type Output struct {
	W   io.Writer
	Err error // the first failure
}

// Write writes, and remembers the first failure.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.W.Write(p)
	if o.Err == nil {
		o.Err = err
	}
	return n, err
}

// An App is the program's state that its commands share.
type App struct {
	Surroundings

	Text *catalogue.Language
}

// UserHome is the person's home directory, "" when it is not known.
func (a *App) UserHome() string { return relay.UserHome(a.Getenv) }

// Home is umpire's own folder.
func (a *App) Home() string { return relay.Home(a.Getenv, a.Dir) }

// SmallHook returns the path of umpire-hook if it is next to this program, or "".
func SmallHook(program string) string {
	small := filepath.Join(filepath.Dir(program), "umpire-hook"+filepath.Ext(program))
	if info, err := os.Lstat(small); program == "" || err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return small
}

// Remark writes a line for the person to standard error.
func (a *App) Remark(text string) { fmt.Fprintf(a.Stderr, "umpire: %s\n", view.Visible(text)) }

// RemarkError reports an error that does not stop the command.
func (a *App) RemarkError(err error) { a.Remark(a.Text.Error(err)) }

// RemarkAll shows notices to the person.
func (a *App) RemarkAll(notices []config.Notice) {
	for _, n := range notices {
		a.Remark(n.In(a.Text.Of))
	}
}

// Absolute reads a path of the command line.
func (a *App) Absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(a.Dir, path)
}
