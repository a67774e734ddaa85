// Package register is `umpire init`: it writes umpire's hook into the settings of an agent, shows
// the change, and takes it back byte for byte.
package register

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/setup"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/shell"
)

// An initJob is one run of `umpire init claude`.
type initJob struct {
	*app.App
	scope              string
	dryRun, undo, diff bool
	notes              []string // said last, where they are not scrolled away
}

// NewCommand is `umpire init`.
func NewCommand(a *app.App) *cobra.Command {
	j := &initJob{App: a}
	cmd := &cobra.Command{
		Use: "init [AGENT]", Short: "Register umpire with an agent", Long: Help,
		Args: app.WantAtMostOneWord, ValidArgs: []string{"claude"},
	}
	cmd.Flags().StringVar(&j.scope, "scope", "user", "whose settings: user or project")
	cmd.Flags().BoolVar(&j.dryRun, "dry-run", false, "show the change and write nothing")
	cmd.Flags().BoolVar(&j.diff, "diff", false, "show every line of the change")
	cmd.Flags().BoolVar(&j.undo, "undo", false, "take the registration back")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0 && !j.undo:
			return listAgents(cmd.Context(), a)
		case len(args) == 0 || args[0] == "claude":
			return j.changeFile(cmd.Context())
		case args[0] == "muse":
			return app.Usage("umpire help hook", "muse needs no registration: it starts `umpire hook muse` by itself")
		}
		if near := rulefile.Nearest(args[0], []string{"claude", "muse"}); near != "" {
			return app.Usage("umpire init "+near, "unknown agent: %q", args[0])
		}
		return app.Usage("umpire init claude", "unknown agent: %q; umpire registers with claude", args[0])
	}
	return cmd
}

// Help is the long help of `umpire init`.
const Help = `Writes umpire's hooks into the agent's settings and shows the change. Everything
else in the file stays as it is, and doing it twice is doing it once.

Without AGENT it lists the agents it knows and what it found of them.`

// The remarks of init beside its result.
const (
	RemarkNoVersion = "claude is not on PATH, so its version is not known: " +
		"a hook that cannot start will not stop a call; run umpire init claude again once it is"
	RemarkOldVersion = "this version of Claude Code runs the call when a hook cannot start; " +
		"update it, then run umpire init claude again"
	RemarkProjectScope = "the file names a path on this machine; think twice before you commit it"
)

// listAgents shows what could be registered.
func listAgents(ctx context.Context, a *app.App) error {
	where, next := registeredFiles(a), "umpire doctor claude"
	registered := a.Text.Of("registered in") + " " + view.Visible(strings.Join(where, ", "))
	if len(where) == 0 {
		registered, next = a.Text.Of("not registered"), "umpire init claude"
	}
	fmt.Fprintf(a.Stdout, "claude  Claude Code: %s, %s\n", FindClaude(ctx, a).In(a.Text), registered)
	fmt.Fprintf(a.Stdout, "muse    %s\n", a.Text.Of("speaks the marker protocol: let it start `umpire hook muse`"))
	fmt.Fprintln(a.Stderr, view.Joined(a.Text.Of("next"), ": ", next))
	return nil
}

// registeredFiles names the settings files that hold our hooks.
func registeredFiles(a *app.App) []string {
	var where []string
	for _, file := range ClaudeFiles(a) {
		text, _, err := ReadSettings(file.Path)
		if err != nil {
			continue
		}
		if list, err := setup.Claude.Registered(text); err == nil && len(list) > 0 {
			where = append(where, file.Path)
		}
	}
	return where
}

// Seconds writes a duration the way that settings files count.
func Seconds(d time.Duration) string { return fmt.Sprintf("%ds", d/time.Second) }

// changeFile changes one settings file.
func (j *initJob) changeFile(ctx context.Context) error {
	defer j.sayNotes()
	path, err := j.settingsPath()
	if err != nil {
		return err
	}
	before, info, err := ReadSettings(path)
	if err != nil {
		return app.Failed(err)
	}
	after, gone, err := j.change(ctx, path, before)
	if err != nil {
		return err
	}
	change := settingsChange{path: path, before: before, after: after, existed: info != nil, remove: gone}
	if change.none() {
		fmt.Fprintf(j.Stdout, "%s: %s\n", view.Visible(path), j.Text.Of("nothing to change"))
		return nil
	}
	if j.diff {
		fmt.Fprint(j.Stdout, change.diff())
	} else {
		fmt.Fprint(j.Stdout, j.summary(change))
	}
	if !j.undo {
		j.noteAllowList()
	}
	if j.dryRun {
		return nil
	}
	return j.writeSettings(change, info)
}

// settingsPath is the file to change, by scope.
func (j *initJob) settingsPath() (string, error) {
	switch j.scope {
	case "user":
		dir, err := claudeDir(j.App)
		return filepath.Join(dir, "settings.json"), err
	case "project":
		p, err := j.FindProject(j.Dir)
		if err != nil {
			return "", err
		}
		dir := filepath.Join(p.Root, ".claude")
		if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
			return "", app.Refused("", "%s is not a folder of the project: it may lead to files of somebody else", dir)
		}
		return filepath.Join(dir, "settings.json"), nil
	}
	return "", app.Usage("umpire init claude --help", "--scope %q: want user or project", j.scope)
}

// change is what the file shall hold; gone says that it shall not be there.
func (j *initJob) change(ctx context.Context, path string, before []byte) (after []byte, gone bool, err error) {
	if j.undo {
		return j.withoutHooks(path, before)
	}
	after, err = j.withHooks(ctx, path, before)
	return after, false, err
}

// withHooks is the file with our hooks, or why they would be dead in it.
func (j *initJob) withHooks(ctx context.Context, path string, before []byte) ([]byte, error) {
	binary, err := j.hookBinary()
	if err != nil {
		return nil, err
	}
	hostDir, err := claudeConfigDir(j.App)
	if err != nil {
		return nil, err
	}
	o := setup.Hook{
		Command: binary, Timeout: host.Find("claude").Timeout,
		Args:   hookArgs(j.Home(), hostDir),
		Status: "umpire decides; a question waits in: umpire watch",
	}
	o.OnFailureBlock = j.blocks(ctx, before, o)
	after, err := setup.Claude.Install(before, o)
	if err != nil {
		return nil, app.Refused("repair the file, then run umpire init claude again", "%s: %w", path, err)
	}
	return after, j.audit(path, after)
}

// hookArgs are the arguments of the registered hook. The folders are named there, since
// Claude Code takes the environment from the settings that a project brings. A hostDir
// of "" is Claude Code's usual folder.
func hookArgs(home, hostDir string) []string {
	args := []string{"hook", "claude"}
	if home != "" {
		args = append(args, "--home", home)
	}
	if hostDir != "" {
		args = append(args, "--host-dir", hostDir)
	}
	return append(args, "--deadline", Seconds(host.Deadline(host.Find("claude").Timeout)))
}

// blocks reports whether Claude Code is new enough to block when a hook fails. An older one
// may drop a settings file that says so.
func (j *initJob) blocks(ctx context.Context, before []byte, o setup.Hook) bool {
	found := FindClaude(ctx, j.App)
	switch {
	case found.Version == "":
		// A file that relies on blocking keeps it, even if the version is not found this
		// time.
		o.OnFailureBlock = true
		same, err := setup.Claude.Install(before, o)
		if err == nil && string(same) == string(before) {
			return true
		}
		j.addWarning(j.Text.Of(RemarkNoVersion))
		return false
	case !setup.ClaudeVersionBlocks(found.Version):
		j.addWarning(j.Text.Of(RemarkOldVersion))
		return false
	}
	return true
}

// audit refuses to write a file in which Claude Code would not run our hooks.
func (j *initJob) audit(path string, settings []byte) error {
	for _, f := range setup.AuditClaude(settings) {
		text := fmt.Sprintf("%s:%d: %s", path, f.Line, f.Problem)
		switch f.Code {
		case setup.FindingSyntax, setup.FindingMalformed, setup.FindingDisabled,
			setup.FindingMissing, setup.FindingTimeout, setup.FindingWeakened:
			return app.Refused(f.Remedy, "%s", text)
		case setup.FindingEnvironment, setup.FindingBroadAllow, setup.FindingManagedOnly:
			j.addWarning(text + "; " + f.Remedy)
		}
	}
	return nil
}

// addWarning keeps a warning for the end.
func (j *initJob) addWarning(text string) { j.notes = append(j.notes, text) }

func (j *initJob) sayNotes() {
	for _, text := range j.notes {
		j.Remark(text)
	}
}

// noteAllowList says that rules of Claude Code's own can be imported.
func (j *initJob) noteAllowList() {
	p, err := j.OpenProject()
	if err != nil {
		return // the commands that need it say why
	}
	for _, file := range ClaudeFiles(j.App) {
		rules, left, err := p.RulesOf(file.Path, rulefile.FormatClaudeSettings)
		if n := len(rules) + len(left); err == nil && n > 0 {
			j.addWarning(fmt.Sprintf(j.Text.Of("%s has %s of Claude Code's own: umpire rules import claude %s"),
				file.Path, j.FormatCount(n, "%d rule", "%d rules"), shell.Quote(file.Path)))
		}
	}
}
