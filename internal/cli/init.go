package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/setup"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/view"
)

// An initJob is one run of `umpire init claude`.
type initJob struct {
	*App
	scope              string
	dryRun, undo, diff bool
	notes              []string // said last, where they are not scrolled away
}

// newInitCommand is `umpire init`.
func newInitCommand(a *App) *cobra.Command {
	j := &initJob{App: a}
	cmd := &cobra.Command{
		Use: "init [AGENT]", Short: "Register umpire with an agent", Long: initHelp,
		Args: cobra.MaximumNArgs(1), ValidArgs: []string{"claude"},
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
			return j.run(cmd.Context())
		case args[0] == "muse":
			return usage("umpire help hook", "muse needs no registration: it starts `umpire hook muse` by itself")
		}
		if near := rulefile.Nearest(args[0], []string{"claude", "muse"}); near != "" {
			return usage("umpire init "+near, "unknown agent: %q", args[0])
		}
		return usage("umpire init claude", "unknown agent: %q; umpire registers with claude", args[0])
	}
	return cmd
}

const initHelp = `Writes umpire's hooks into the agent's settings and shows the change. Everything
else in the file stays as it is, and doing it twice is doing it once.

Without AGENT it lists the agents it knows and what it found of them.`

// What init has to say beside its result.
const (
	remarkNoVersion    = "claude is not on PATH, so its version is not known: a hook that cannot start will not stop a call; run umpire init claude again once it is"
	remarkOldVersion   = "this version of Claude Code runs the call when a hook cannot start; update it, then run umpire init claude again"
	remarkProjectScope = "the file names a path on this machine; think twice before you commit it"
)

// listAgents shows what could be registered.
func listAgents(ctx context.Context, a *App) error {
	where, next := registeredFiles(a), "umpire doctor claude"
	registered := a.text.Of("registered in") + " " + view.Visible(strings.Join(where, ", "))
	if len(where) == 0 {
		registered, next = a.text.Of("not registered"), "umpire init claude"
	}
	fmt.Fprintf(a.stdout, "claude  Claude Code: %s, %s\n", a.text.Problem(findClaude(ctx, a).String()), registered)
	fmt.Fprintf(a.stdout, "muse    %s\n", a.text.Of("speaks the marker protocol: let it start `umpire hook muse`"))
	fmt.Fprintln(a.stderr, view.Joined(a.text.Of("next"), ": ", next))
	return nil
}

// registeredFiles names the settings files that hold our hooks.
func registeredFiles(a *App) []string {
	var where []string
	for _, file := range claudeFiles(a) {
		text, _, err := readSettings(file.path)
		if err != nil {
			continue
		}
		if list, err := setup.RegisteredClaude(text); err == nil && len(list) > 0 {
			where = append(where, file.path)
		}
	}
	return where
}

// seconds writes a duration the way that settings files count.
func seconds(d time.Duration) string { return fmt.Sprintf("%ds", d/time.Second) }

// run changes one settings file.
func (j *initJob) run(ctx context.Context) error {
	defer j.sayNotes()
	path, err := j.settingsPath()
	if err != nil {
		return err
	}
	before, info, err := readSettings(path)
	if err != nil {
		return failed(err)
	}
	after, gone, err := j.change(ctx, path, before)
	if err != nil {
		return err
	}
	change := settingsChange{path: path, before: before, after: after, existed: info != nil, remove: gone}
	if change.none() {
		fmt.Fprintf(j.stdout, "%s: %s\n", view.Visible(path), j.text.Of("nothing to change"))
		return nil
	}
	if j.diff {
		fmt.Fprint(j.stdout, change.diff())
	} else {
		fmt.Fprint(j.stdout, j.summary(change))
	}
	if !j.undo {
		j.noteAllowList()
	}
	if j.dryRun {
		return nil
	}
	return j.write(change, info)
}

// settingsPath is the file to change, by scope.
func (j *initJob) settingsPath() (string, error) {
	switch j.scope {
	case "user":
		dir, err := claudeDir(j.App)
		return filepath.Join(dir, "settings.json"), err
	case "project":
		p, err := j.findProject(j.dir)
		if err != nil {
			return "", err
		}
		dir := filepath.Join(p.Root, ".claude")
		if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
			return "", refused("", "%s is not a folder of the project: it may lead to files of somebody else", dir)
		}
		return filepath.Join(dir, "settings.json"), nil
	}
	return "", usage("umpire init claude --help", "--scope %q: want user or project", j.scope)
}

// change is what the file shall hold; gone says that it shall not be there.
func (j *initJob) change(ctx context.Context, path string, before []byte) (after []byte, gone bool, err error) {
	if j.undo {
		return j.taken(path, before)
	}
	after, err = j.installed(ctx, path, before)
	return after, false, err
}

// installed is the file with our hooks, or why they would be dead in it.
func (j *initJob) installed(ctx context.Context, path string, before []byte) ([]byte, error) {
	binary, err := j.hookBinary()
	if err != nil {
		return nil, err
	}
	hostDir, err := claudeConfigDir(j.App)
	if err != nil {
		return nil, err
	}
	o := setup.ClaudeInstall{
		Command: binary, Timeout: host.ClaudeTimeout,
		Args:   hookArgs(j.home(), hostDir),
		Status: "umpire decides; a question waits in: umpire watch",
	}
	o.OnFailureBlock = j.blocks(ctx, before, o)
	after, err := setup.InstallClaude(before, o)
	if err != nil {
		return nil, refused("repair the file, then run umpire init claude again", "%s: %w", path, err)
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
	return append(args, "--deadline", seconds(host.ClaudeDeadline))
}

// blocks reports whether Claude Code is new enough to be told to block when a
// hook fails. An older one may drop a settings file that says so.
func (j *initJob) blocks(ctx context.Context, before []byte, o setup.ClaudeInstall) bool {
	found := findClaude(ctx, j.App)
	switch {
	case found.version == "":
		// What was once known to hold is not taken back for not finding it again.
		o.OnFailureBlock = true
		same, err := setup.InstallClaude(before, o)
		if err == nil && string(same) == string(before) {
			return true
		}
		j.note(remarkNoVersion)
		return false
	case !setup.ClaudeVersionBlocks(found.version):
		j.note(remarkOldVersion)
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
			return refused(f.Remedy, "%s", text)
		case setup.FindingEnvironment, setup.FindingBroadAllow, setup.FindingManagedOnly:
			j.note(text + "; " + f.Remedy)
		}
	}
	return nil
}

// note keeps a warning for the end.
func (j *initJob) note(text string) { j.notes = append(j.notes, text) }

func (j *initJob) sayNotes() {
	for _, text := range j.notes {
		j.remark(text)
	}
}

// noteAllowList says that rules which Claude Code knows can be had here, too.
func (j *initJob) noteAllowList() {
	p, err := j.openProject()
	if err != nil {
		return // the commands that need it say why
	}
	for _, file := range claudeFiles(j.App) {
		rules, left, err := p.rulesOf(file.path, rulefile.FormatClaudeSettings)
		if n := len(rules) + len(left); err == nil && n > 0 {
			j.note(fmt.Sprintf(j.text.Of("%s has %s of Claude Code's own: umpire rules import claude %s"),
				file.path, j.formatCount(n, "%d rule", "%d rules"), view.QuoteWord(file.path)))
		}
	}
}
