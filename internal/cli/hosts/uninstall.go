package hosts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/host/setup"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/shell"
)

// An uninstallation is one run of `umpire setup uninstall`.
type uninstallation struct {
	setupJob

	state     bool
	agents    []setup.Settings // those that ask umpire, by their settings
	installed app.Installation
}

// NewUninstallCommand is `umpire setup uninstall`.
func NewUninstallCommand(a *app.App) *cobra.Command {
	u := &uninstallation{setupJob: setupJob{App: a, undo: true}}
	cmd := &cobra.Command{
		Use: "uninstall", Short: "Remove umpire from this machine", Long: uninstallHelp, Args: app.RefuseWords,
		Example: "  umpire setup uninstall --dry-run\n  umpire setup uninstall\n  umpire setup uninstall --state --yes",
		RunE:    func(cmd *cobra.Command, _ []string) error { return u.uninstall(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&u.yes, "yes", false, "ask nothing")
	flags.BoolVar(&u.dryRun, "dry-run", false, "show what would be removed and remove nothing")
	flags.BoolVar(&u.state, "state", false, "also remove your rules, settings, timeline and undo data")
	return cmd
}

// uninstallHelp is the long help of `umpire setup uninstall`.
const uninstallHelp = `Removes umpire's hooks from the settings of all agents, as "umpire setup --undo" does,
stops the service, and removes the programs. If a package manager installed them,
it prints the command that removes them instead.

Your rules, settings and timeline stay unless you pass --state. The rules of
projects (.umpire in each) are never touched.`

func (u *uninstallation) uninstall(ctx context.Context) error {
	u.plan(ctx)
	if u.state && gateRuns(ctx, u.App) {
		m, err := u.readMemory()
		if err != nil {
			return err
		}
		if !m.Service {
			return app.Refused("umpire status", "a running gate still writes there: stop it first, or omit --state")
		}
	}
	u.showPlan()
	if u.dryRun {
		return nil
	}
	if err := u.confirm(ctx); err != nil {
		return err
	}
	return u.carryOut(ctx)
}

// plan finds the things to remove.
func (u *uninstallation) plan(ctx context.Context) {
	for _, s := range setup.All {
		if len(registeredFiles(u.App, s)) > 0 {
			u.agents = append(u.agents, s)
		}
	}
	u.installed = u.FindInstallation(ctx)
}

func (u *uninstallation) showPlan() {
	for _, s := range u.agents {
		for _, path := range registeredFiles(u.App, s) {
			fmt.Fprintf(u.Stdout, u.Text.Of("hook        %s")+"\n", view.Visible(path))
		}
	}
	if m, err := u.readMemory(); err == nil && m.Service {
		fmt.Fprintln(u.Stdout, u.Text.Of("service     the gate, started at login"))
	}
	if u.state && files.Exists(u.Home(), "") {
		fmt.Fprintf(u.Stdout, u.Text.Of("state       %s")+"\n", view.Visible(u.Home()))
	}
	if u.installed.Remove == "" {
		for _, path := range u.installed.Files {
			fmt.Fprintf(u.Stdout, u.Text.Of("program     %s")+"\n", view.Visible(path))
		}
	}
}

// confirm asks for confirmation.
func (u *uninstallation) confirm(ctx context.Context) error {
	if u.yes {
		return nil
	}
	needed := app.Usage("umpire setup uninstall --yes", "cannot ask for confirmation without a terminal; pass "+
		"--yes to remove umpire")
	if !u.Terminal {
		return needed
	}
	tty, err := u.OpenTerminal()
	if err != nil {
		return needed
	}
	defer tty.Close()
	return u.Confirm(ctx, tty, "", "y")
}

// carryOut removes everything, and the programs last, so the person can retry after a failure.
func (u *uninstallation) carryOut(ctx context.Context) error {
	m, err := u.readMemory()
	if err != nil {
		return err
	}
	if !m.empty() {
		if err := u.takeBack(ctx); err != nil {
			return err
		}
	}
	for _, s := range u.agents {
		if len(registeredFiles(u.App, s)) == 0 {
			continue // it was setup that wrote its hooks
		}
		if err := u.undoHost(ctx, s.Host); err != nil {
			return err
		}
	}
	var left []string
	for _, s := range u.agents {
		left = append(left, registeredFiles(u.App, s)...)
	}
	if len(left) > 0 {
		slices.Sort(left)
		return app.Refused("umpire setup AGENT --undo --scope project", "umpire is still registered in %s",
			view.List(left, ", "))
	}
	if u.state {
		if err := files.RemoveTree(u.Home()); err != nil {
			return app.Failed(err)
		}
	} else if files.Exists(u.Home(), "") {
		u.Remark(fmt.Sprintf(u.Text.Of("your rules, settings and timeline stay in %s"), view.Visible(u.Home())))
	}
	if u.installed.Remove != "" {
		fmt.Fprintln(u.Stderr, view.Joined(u.Text.Of("next"), ": ", u.installed.Remove))
		return nil
	}
	return u.removePrograms()
}

// removePrograms removes the programs, and names the command where only root may.
func (u *uninstallation) removePrograms() error {
	var errs []error
	var left []string
	for _, path := range u.installed.Files {
		err := os.Remove(path)
		if runtime.GOOS != "windows" && errors.Is(err, fs.ErrPermission) {
			left = append(left, shell.Quote(path))
			continue
		}
		errs = append(errs, err)
	}
	if len(left) > 0 {
		next := "sudo rm " + strings.Join(left, " ")
		fmt.Fprintln(u.Stderr, view.Joined(u.Text.Of("next"), ": ", view.Visible(next)))
	}
	return app.Failed(errors.Join(errs...))
}
