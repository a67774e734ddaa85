package hosts

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/config/docedit"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/relay"
	"github.com/umpirehq/umpire/internal/host/setup"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/shell"
)

// An initJob is the set-up of one host.
type initJob struct {
	*app.App
	host *host.Host
	file setup.Settings
	initFlags
	quiet bool     // the job's caller names the next step
	notes []string // shown last, to stay visible
}

// The initFlags are the flags of `umpire setup AGENT`.
type initFlags struct {
	scope                        string
	dryRun, undo, diff, unproven bool
	observe                      bool
	sandboxProxy                 bool
}

// registrable are the names of the hosts whose settings umpire writes.
func registrable() []string {
	var names []string
	for _, s := range setup.All {
		if host.Find(s.Host) != nil {
			names = append(names, s.Host)
		}
	}
	return names
}

// newInitJob is a job for the host of that name. A host of which too little is known needs the
// person's word.
func newInitJob(a *app.App, name string, f initFlags) (*initJob, error) {
	typed := name
	name = strings.ToLower(name)
	h := host.Find(name)
	s, ok := setup.Find(name)
	switch {
	case h != nil && ok:
	case h != nil:
		return nil, app.Usage("umpire help hook", "%s needs no registration: it starts `umpire hook %s` by itself",
			name, name)
	default:
		if near := docedit.Nearest(name, host.Names()); near != "" {
			return nil, app.Usage("umpire setup "+near, "unknown agent: %q", typed)
		}
		return nil, app.Usage("umpire setup --list", "unknown agent: %q; umpire registers with %s", typed,
			strings.Join(registrable(), ", "))
	}
	if h.Evidence == host.Documented && !f.unproven && !f.undo {
		return nil, app.Usage("umpire setup "+name+" --unproven",
			"umpire was never tested with %s, and relies on its documentation", h.Title)
	}
	j := &initJob{App: a, host: h, file: s, initFlags: f}
	return j, j.leadSandbox()
}

// leadSandbox has the job write the port of network.proxy into the settings of Claude Code's sandbox if that is wanted,
// or take it back.
func (j *initJob) leadSandbox() error {
	port := ""
	c, err := j.ReadUserConfig()
	if err == nil {
		_, port, _ = net.SplitHostPort(c.NetworkProxy)
	}
	applies := j.host.Name == setup.Claude.Host && j.scope == "user"
	switch {
	case applies && port != "" && (j.sandboxProxy || j.undo):
		j.file = j.file.WithProxy(port)
	case !j.sandboxProxy: // undo restores the file from memory
	case !applies:
		return app.Usage("umpire setup claude --sandbox-proxy", "--sandbox-proxy is for your own settings of claude")
	case err == nil:
		err = app.Refused("network.proxy: 127.0.0.1:7578", "the gate has no proxy: set network.proxy in %s",
			filepath.Join(j.Home(), config.FileName))
	}
	if j.sandboxProxy {
		return err
	}
	return nil
}

// The remarks of init in addition to its result.
const (
	remarkNoVersion = "a hook that cannot start will not stop a call, because Claude Code's version is unknown; " +
		"run umpire setup claude again once `claude --version` works"
	remarkOldVersion = "this version of Claude Code runs the call when a hook cannot start; " +
		"update it, then run umpire setup claude again"
	remarkProjectScope = "do not commit this file without checking it: it names a path on this machine"
)

// listAgents lists the agents that can be registered.
func listAgents(ctx context.Context, a *app.App) error {
	next := "umpire setup claude"
	table := app.NewTable(a.Stdout)
	for _, h := range host.Hosts {
		s, ok := setup.Find(h.Name)
		if !ok {
			fmt.Fprintf(table, "%s\t%s\n", h.Name,
				fmt.Sprintf(a.Text.Of("uses the marker protocol: have it start `umpire hook %s`"), h.Name))
			continue
		}
		where := registeredFiles(a, s)
		registered := a.Text.Of("not registered")
		if len(where) > 0 {
			registered = a.Text.Of("registered in") + " " + view.Visible(strings.Join(where, ", "))
			next = "umpire doctor " + h.Name
		}
		found := findProgram(ctx, a, h)
		if found.Path == "" && len(where) == 0 && h.Name != "claude" {
			continue
		}
		fmt.Fprintf(table, "%s\t%s: %s, %s\n", h.Name, h.Title, found.In(a.Text), registered)
	}
	if err := table.Flush(); err != nil {
		return app.Failed(err)
	}
	fmt.Fprintln(a.Stderr, view.Joined(a.Text.Of("next"), ": ", next))
	return nil
}

// settingsFiles are those in which a host may have been told of umpire.
func settingsFiles(a *app.App, s setup.Settings) []string {
	if s.Host != setup.Claude.Host {
		path, err := userFile(a, s)
		if err != nil {
			return nil
		}
		return []string{path}
	}
	var paths []string
	for _, file := range claudeFiles(a) {
		paths = append(paths, file.Path)
	}
	return paths
}

// registeredFiles names the settings files of a host that hold our hooks.
func registeredFiles(a *app.App, s setup.Settings) []string {
	var where []string
	for _, path := range settingsFiles(a, s) {
		text, _, err := readSettings(path)
		if err != nil {
			continue
		}
		if list, err := s.Registered(text); err == nil && len(list) > 0 {
			where = append(where, path)
		}
	}
	return where
}

// seconds writes a duration the way that settings files count.
func seconds(d time.Duration) string { return fmt.Sprintf("%ds", d/time.Second) }

// changeFile changes the settings of the host.
func (j *initJob) changeFile(ctx context.Context) error {
	defer j.sayNotes()
	change, info, err := j.plan(ctx)
	if err != nil {
		return err
	}
	if change.none() {
		fmt.Fprintf(j.Stdout, "%s: %s\n", view.Visible(change.path), j.Text.Of("nothing to change"))
	} else {
		j.show(change)
	}
	if !j.undo && !change.none() {
		j.noteAllowList()
	}
	if j.dryRun {
		return nil
	}
	return j.apply(ctx, change, info)
}

// show writes a change, in short or line by line.
func (j *initJob) show(change settingsChange) {
	if j.diff {
		fmt.Fprint(j.Stdout, change.diff())
	} else {
		fmt.Fprint(j.Stdout, j.summary(change))
	}
}

// plan returns the change to make. The file's information is nil if the file does not exist yet.
func (j *initJob) plan(ctx context.Context) (settingsChange, fs.FileInfo, error) {
	path, err := j.settingsPath()
	if err != nil {
		return settingsChange{}, nil, err
	}
	before, info, err := readSettings(path)
	if err != nil {
		return settingsChange{}, nil, app.Failed(err)
	}
	after, gone, err := j.change(ctx, path, before)
	if err != nil {
		return settingsChange{}, nil, err
	}
	return settingsChange{file: j.file, path: path, before: before, after: after, existed: info != nil, remove: gone},
		info, nil
}

// apply makes the change, and has Codex trust it: until then Codex skips the hook without a
// word.
func (j *initJob) apply(ctx context.Context, change settingsChange, info fs.FileInfo) error {
	if !change.none() {
		if err := j.writeSettings(change, info); err != nil {
			return err
		}
		j.done(change.path)
	}
	if j.host.Name == setup.Codex.Host {
		return j.trustCodex(ctx, change.path)
	}
	return nil
}

// settingsPath is the file to change, by scope.
func (j *initJob) settingsPath() (string, error) {
	switch j.scope {
	case "user":
		return userFile(j.App, j.file)
	case "project":
		if j.host.Settings.Project == "" || j.host.Name != setup.Claude.Host {
			return "", app.Usage("umpire setup "+j.host.Name, "umpire does not write %s settings into a project",
				j.host.Title)
		}
		p, err := j.FindProject(j.Dir)
		if err != nil {
			return "", err
		}
		path := filepath.Join(p.Root, filepath.FromSlash(j.host.Settings.Project))
		if info, err := os.Lstat(filepath.Dir(path)); err == nil && !info.IsDir() {
			return "", app.Refused("", "%s is not a folder of the project: it may lead to another user's files",
				filepath.Dir(path))
		}
		return path, nil
	}
	return "", app.Usage("umpire setup "+j.host.Name+" --help", "--scope %q: want user or project", j.scope)
}

// change returns the new content of the file; gone means that the file is to be removed.
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
	hook := setup.Hook{
		Command: binary, Timeout: j.host.Timeout(), Args: j.hookArgs(),
		Status: "umpire decides; a question waits in: umpire watch",
	}
	isClaude := j.host.Name == setup.Claude.Host
	if isClaude {
		hook.OnFailureBlock = j.blocks(ctx, before, hook)
	}
	after, err := j.file.Install(before, hook)
	if err != nil {
		return nil, app.Refused("repair the file, then run umpire setup "+j.host.Name, "%s: %w", path, err)
	}
	if isClaude {
		return after, j.audit(path, after)
	}
	return after, nil
}

// hookArgs are the arguments of the registered hook. The folders are named there, since
// hosts take the environment from the settings that a project brings.
func (j *initJob) hookArgs() []string {
	args := []string{"hook", j.host.Name}
	if home := j.Home(); home != "" {
		args = append(args, "--home", home)
	}
	if dir := hostDir(j.Getenv, j.file); dir != "" {
		args = append(args, "--host-dir", dir)
	}
	return append(args, "--deadline", seconds(relay.Deadline(j.host.Timeout())))
}

// blocks reports whether Claude Code is new enough to block when a hook fails. An older
// version may ignore a settings file with that option.
func (j *initJob) blocks(ctx context.Context, before []byte, hook setup.Hook) bool {
	found := findProgram(ctx, j.App, j.host)
	switch {
	case found.Version == "":
		// A file that relies on blocking keeps it, even if the version is not found this
		// time.
		hook.OnFailureBlock = true
		same, err := j.file.Install(before, hook)
		if err == nil && string(same) == string(before) {
			return true
		}
		j.addWarning(j.Text.Of(remarkNoVersion))
		return false
	case !setup.ClaudeVersionBlocks(found.Version):
		j.addWarning(j.Text.Of(remarkOldVersion))
		return false
	}
	return true
}

// audit refuses to write a file in which Claude Code would not run our hooks.
func (j *initJob) audit(path string, settings []byte) error {
	for _, f := range setup.AuditClaude(settings) {
		problem := umpire.Errorf("%s:%d: %w", path, f.Line, f.Problem)
		switch f.Code {
		case setup.FindingSyntax, setup.FindingMalformed, setup.FindingDisabled,
			setup.FindingMissing, setup.FindingTimeout, setup.FindingWeakened:
			return app.Refused(f.Remedy, "%w", problem)
		case setup.FindingEnvironment, setup.FindingBroadAllow, setup.FindingManagedOnly:
			j.addWarning(j.Text.Error(problem) + j.Text.Of("; ") + j.Text.Of(f.Remedy))
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

// noteAllowList says that the host's own rules can be imported.
func (j *initJob) noteAllowList() {
	if j.quiet {
		return
	}
	if j.host.Name != setup.Claude.Host {
		n := 0
		for _, list := range readAllowances(j.App, j.host) {
			n += len(list.entries)
		}
		if n > 0 {
			j.addWarning(fmt.Sprintf(j.Text.Of("%s allows %s by itself; to import them as rules: umpire setup "+
				"--only %s"),
				j.host.Title, j.Text.Count(n, "%d thing", "%d things"), j.host.Name))
		}
		return
	}
	p, err := j.OpenProject()
	if err != nil {
		return // the commands that need it report the error
	}
	for _, file := range claudeFiles(j.App) {
		rules, left, err := p.RulesOf(file.Path, rulefile.FormatClaudeSettings)
		if n := len(rules) + len(left); err == nil && n > 0 {
			j.addWarning(fmt.Sprintf(j.Text.Of("%s has %s for Claude Code alone; to import them: umpire rules "+
				"import claude %s"),
				file.Path, j.Text.Count(n, "%d rule", "%d rules"), shell.Quote(file.Path)))
		}
	}
}
