// Package conformance is `umpire conformance`: it runs the installed agents against a
// scripted model, and shows what umpire can promise with them.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/drive"
	"github.com/umpirehq/umpire/internal/view"
)

// help is the long help of `umpire conformance`.
const help = `Starts agents that are installed here, in a home and a project made for it, on a
model that plays a script, with umpire in front of them. Shows what became of each call:

  runs            it ran
  blocked         it did not run
  asks, runs      it waited for a person, who approved it
  asks, blocked   it waited for a person, and did not run
  -               the agent has no such call

Where there are two words, the first is what happened without umpire. Your own settings
are neither read nor changed.
No account and no key are used, and where the system allows it there is no network.

Exit code 0: umpire keeps its promises, but for the holes that are known. 1: it does not.`

// NewCommand is `umpire conformance`.
func NewCommand(a *app.App) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "conformance [AGENT...]", Short: "Try what umpire can promise with the agents installed here", Long: help,
		Example: "  umpire conformance\n  umpire conformance codex", ValidArgs: drivenNames(),
		RunE: func(cmd *cobra.Command, names []string) error {
			found, err := findSubjects(names)
			if err != nil {
				return err
			}
			if code, isolated := runIsolated(a); isolated {
				if code != app.ExitDone {
					return &app.CommandError{Code: code}
				}
				return nil
			}
			return examine(cmd.Context(), a, found, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

// drivenNames are the agents that can be started on a scripted model.
func drivenNames() (names []string) {
	for _, d := range drive.Drivers {
		if host.Find(d.Name) != nil {
			names = append(names, d.Name)
		}
	}
	return names
}

// findSubjects finds the agents that were named, or all that are installed.
func findSubjects(names []string) (found []*drive.Subject, err error) {
	umpireProgram, err := os.Executable()
	if err != nil {
		return nil, app.Failed(err)
	}
	for _, name := range names {
		if !slices.Contains(drivenNames(), name) {
			return nil, app.Usage("umpire conformance --help", "unknown agent: %q", name)
		}
	}
	for _, name := range drivenNames() {
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		d := drive.FindDriver(name)
		program, err := exec.LookPath(d.Program)
		switch {
		case err == nil:
			found = append(found, &drive.Subject{Driver: d, Program: program, Umpire: umpireProgram})
		case len(names) > 0:
			return nil, app.Failed(err)
		}
	}
	if len(found) == 0 {
		return nil, app.Failed(errors.New("none of the agents that umpire can start is installed here"))
	}
	return found, nil
}

// envIsolated marks the process that runs without a network.
const envIsolated = "UMPIRE_CONFORMANCE_ISOLATED"

// runIsolated runs the same command with only the loopback network. It returns false if that is
// not possible, or if this process is already isolated.
func runIsolated(a *app.App) (code int, isolated bool) {
	if a.Getenv(envIsolated) != "" {
		if err := drive.RaiseLoopback(); err != nil {
			fmt.Fprintf(a.Stderr, "umpire: %v\n", a.Text.Error(err))
		}
		return 0, false
	}
	self, err := os.Executable()
	if err == nil {
		cmd := exec.Command(self, a.Args...) //nolint:noctx // it is this very command
		cmd.Env = append(os.Environ(), envIsolated+"=1")
		cmd.Stdout, cmd.Stderr = a.Stdout, a.Stderr
		if err = drive.Isolate(cmd); err == nil {
			err = cmd.Run()
		}
		if cmd.ProcessState != nil {
			return cmd.ProcessState.ExitCode(), true
		}
	}
	fmt.Fprintf(a.Stderr, "umpire: %s: %v\n",
		a.Text.Of("no private network, so the agent could reach the real one"), a.Text.Error(err))
	return 0, false
}

// A report is the result for one agent.
type report struct {
	Agent   string      `json:"agent"`
	Version string      `json:"version"`
	Program string      `json:"program"`
	Rows    []rowReport `json:"rows"`

	title string
}

// A rowReport is the result of one cell.
type rowReport struct {
	Cell  string `json:"cell"`
	Alone string `json:"alone,omitempty"` // without umpire
	With  string `json:"with"`
	// Hole is the known hole that the call went through. Complaint describes a fault.
	Hole      string `json:"hole,omitempty"`
	Complaint string `json:"complaint,omitempty"`

	err error
}

// examine plays every cell with every agent.
func examine(ctx context.Context, a *app.App, found []*drive.Subject, asJSON bool) error {
	var reports []report
	broken := 0
	for _, s := range found {
		h := host.Find(s.Driver.Name)
		r := report{Agent: h.Name, Version: version(ctx, s.Program), Program: s.Program, title: h.Title}
		if !asJSON {
			fmt.Fprintf(a.Stdout, "%s %s (%s)\n\n", r.title, r.Version, view.Visible(r.Program))
		}
		r.Rows = examineHost(ctx, s, h)
		for i := range r.Rows {
			if r.Rows[i].err != nil {
				r.Rows[i].Complaint = r.Rows[i].err.Error()
			}
			if r.Rows[i].Complaint != "" {
				broken++
			}
		}
		reports = append(reports, r)
		if !asJSON {
			showRows(a, r.Rows)
		}
	}
	if asJSON {
		if err := a.ShowJSON(reports); err != nil {
			return app.Failed(err)
		}
	} else {
		fmt.Fprintln(a.Stdout, verdict(a, broken))
	}
	if broken > 0 {
		return &app.CommandError{Code: app.ExitError}
	}
	return nil
}

const (
	// atOnce is how many cells are played at once.
	atOnce = 3
	// cellLimit bounds one.
	cellLimit = 2 * time.Minute
)

func examineHost(ctx context.Context, s *drive.Subject, h *host.Host) []rowReport {
	rows := make([]rowReport, len(drive.Cells))
	var wait sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i := range drive.Cells {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			cell := &drive.Cells[i]
			limited, cancel := context.WithTimeout(ctx, cellLimit)
			defer cancel()
			row, err := s.Examine(limited, cell)
			rows[i] = rowReport{
				Cell: row.Cell, Alone: string(row.Alone), With: string(row.With), err: err,
				Hole: cell.Hole(h, row), Complaint: cell.Complaint(h, row),
			}
		})
	}
	wait.Wait()
	return rows
}

func showRows(a *app.App, rows []rowReport) {
	table := app.NewTable(a.Stdout)
	for _, r := range rows {
		became := r.With
		if r.Alone != "" {
			became = r.Alone + " > " + became
		}
		note := a.Text.Text(umpire.Phrase(r.Hole))
		switch {
		case r.err != nil:
			note = a.Text.Error(r.err)
		case r.Complaint != "":
			note = view.Joined(a.Text.Of("a promise is broken"), ": ", r.Complaint)
		}
		cells := []string{a.Text.Of(r.Cell), became}
		if note != "" {
			cells = append(cells, app.Clip(view.Visible(note)))
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	table.Flush() //nolint:errcheck // the exit code shows the failure
	fmt.Fprintln(a.Stdout)
}

func verdict(a *app.App, broken int) string {
	if broken == 0 {
		return a.Text.Of("umpire keeps its promises")
	}
	return a.FormatCount(broken, "%d promise is broken", "%d promises are broken")
}

var versionForm = regexp.MustCompile(`\d+\.\d+\.\d+[-.\w]*`)

// version returns the version that a program reports, or "".
func version(ctx context.Context, program string) string {
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	out, err := exec.CommandContext(limited, program, "--version").Output()
	if err != nil {
		return ""
	}
	return versionForm.FindString(strings.TrimSpace(string(out)))
}
