package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/umpirehq/umpire/internal/config"
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

// readSurroundings returns the surroundings of the process.
func readSurroundings() surroundings {
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
		ancestors: func() []ancestor { return findAncestors(outermost) }, now: time.Now,
	}
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

// An App is the program with what its commands share.
type App struct {
	surroundings

	text view.Catalogue
	// language is the catalogue of a locale.
	language func(locale string) view.Catalogue
}

// userHome is the person's home directory, "" when it is not known.
func (a *App) userHome() string { return host.UserHome(a.getenv) }

// home is umpire's own folder.
func (a *App) home() string { return host.Home(a.getenv, a.dir) }

// remark tells something beside the result.
func (a *App) remark(text string) {
	fmt.Fprintf(a.stderr, "umpire: %s\n", view.Visible(a.text.Problem(text)))
}

// remarkAll tells the person of notices.
func (a *App) remarkAll(notices []config.Notice) {
	for _, n := range notices {
		a.remark(n.In(a.text.Of))
	}
}

// absolute reads a path of the command line.
func (a *App) absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(a.dir, path)
}
