package hook

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/judge"
	"github.com/umpirehq/umpire/internal/process"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/trial"
	"github.com/umpirehq/umpire/policy"
)

// A rewriter has command lines of Claude Code run by umpire.
type rewriter struct {
	app *app.App
	// gate is the one that runs; nil opens the store for each ticket.
	gate *gate.Gate
}

var _ host.Rewriter = (*rewriter)(nil)

// Command is this very program. A folder other than the usual one is named, since the
// environment of the command may name another.
func (r *rewriter) Command() []string {
	words := []string{r.app.Executable, "exec"}
	if usual := filepath.Join(r.app.UserHome(), ".umpire"); r.app.Home() != usual {
		words = append(words, "--home", r.app.Home())
	}
	return words
}

// Allows reports whether the host's rules can all be read, and leave the call to umpire.
func (r *rewriter) Allows(_ context.Context, q *host.Question, project string, call *umpire.Call) bool {
	return r.obstacle(q, project, call) == ""
}

// Issue makes a ticket.
func (r *rewriter) Issue(ctx context.Context, q *host.Question, t umpire.Ticket) (secret string, err error) {
	t.User, t.Host = os.Getuid(), hostOf(q)
	err = r.withGate(ctx, func(g *gate.Gate) error {
		secret, err = g.IssueTicket(ctx, t)
		return err
	})
	return secret, err
}

// End has what the line of a ticket does held.
func (r *rewriter) End(ctx context.Context, _ *host.Question, secret string) error {
	return r.withGate(ctx, func(g *gate.Gate) error {
		_, err := g.EndTicket(ctx, secret)
		return err
	})
}

// withGate does something with the gate that runs, or opens the store for it.
func (r *rewriter) withGate(ctx context.Context, do func(*gate.Gate) error) error {
	if r.gate != nil {
		return do(r.gate)
	}
	conf, err := r.app.ReadUserConfig()
	if err != nil {
		return err
	}
	at, err := r.app.ReadStoreAddress(conf.Store)
	if err != nil {
		return err
	}
	g, err := r.app.StartGate(ctx, conf, at, false)
	if err != nil {
		return err
	}
	return errors.Join(do(g.Gate), g.Close())
}

// hostOf is the process that asks.
func hostOf(q *host.Question) string {
	if q.Runner != "" {
		return q.Runner
	}
	return process.Host(os.Getppid())
}

// rulesElsewhere are options of Claude Code that bring rules which stand in no file, or in
// one that is not looked at.
var rulesElsewhere = []string{"--settings", "--disallowedTools", "--disallowed-tools", "--agents", "--agent"}

// obstacle says why a call is not rewritten, "" when it may be.
func (r *rewriter) obstacle(q *host.Question, project string, call *umpire.Call) string {
	p, err := r.app.FindProject(project)
	if err != nil || runtime.GOOS != "linux" || !filepath.IsAbs(r.app.Executable) ||
		trial.WasUnavailable(r.app.StateDir(), p.Root, r.app.Now()) {
		return "no command can be tried here"
	}
	args, alive := process.ArgumentsOf(hostOf(q))
	if !alive {
		return "the process that asks is not known"
	}
	for _, arg := range args {
		if name, _, _ := strings.Cut(arg, "="); slices.Contains(rulesElsewhere, name) {
			return "it was started with " + name
		}
	}
	var layers []rulefile.Layer
	for _, path := range settingsFiles(r.app, q, project) {
		isolates, err := turnsSandboxOn(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return path + " cannot be read"
		case isolates:
			return path + " turns its own sandbox on"
		}
		layers = append(layers, rulefile.Layer{
			Source: umpire.SourceUser, Path: path, Format: rulefile.FormatClaudeSettings,
		})
	}
	return r.matches(layers, project, call)
}

// settingsFiles are all files that Claude Code may take rules from, whether they are there or not.
func settingsFiles(a *app.App, q *host.Question, project string) []string {
	user := q.HostDir
	if user == "" {
		user = filepath.Join(a.UserHome(), ".claude")
	}
	all := []string{
		filepath.Join(user, "settings.json"), filepath.Join(user, "settings.local.json"),
		filepath.Join(user, "remote-settings.json"),
	}
	for dir := project; ; dir = filepath.Dir(dir) {
		own := filepath.Join(dir, ".claude")
		all = append(all, filepath.Join(own, "settings.json"), filepath.Join(own, "settings.local.json"))
		if filepath.Dir(dir) == dir {
			break
		}
	}
	const managed = "/etc/claude-code"
	more, err := filepath.Glob(filepath.Join(managed, "managed-settings.d", "*.json"))
	if err != nil {
		more = nil // the pattern is right
	}
	return append(append(all, filepath.Join(managed, "managed-settings.json")), more...)
}

// turnsSandboxOn reports whether a settings file turns Claude Code's own sandbox on.
func turnsSandboxOn(path string) (bool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	var settings struct {
		Sandbox struct {
			Enabled bool `json:"enabled"`
		} `json:"sandbox"`
	}
	return json.Unmarshal(text, &settings) == nil && settings.Sandbox.Enabled, nil
}

// matches says which rule of the host speaks about a call, "" for none. Its allow rules do
// not count.
func (r *rewriter) matches(layers []rulefile.Layer, project string, call *umpire.Call) string {
	conf, err := r.app.ReadConfig(project)
	if err != nil {
		return err.Error()
	}
	g := gate.New(r.app.GateConfig(conf))
	defer g.Close()
	at, err := g.Project(project)
	if err != nil {
		return err.Error()
	}
	set := rulefile.Load(layers, nil, at.Options())
	if set.Degraded != "" {
		return set.Degraded
	}
	rules := slices.DeleteFunc(set.Rules, func(rule umpire.Rule) bool { return rule.Action == umpire.Allow })
	theirs, err := policy.New(rules, policy.Options{Root: at.Root, Home: at.Home, FoldCase: at.FoldCase})
	if err != nil {
		return err.Error()
	}
	find := func() (*judge.Judge, error) {
		j, err := g.JudgeOf(project)
		if err != nil {
			return nil, err
		}
		with := *j
		with.Policy = theirs
		return &with, nil
	}
	given := policy.Conditions{Mode: umpire.ModeDefault}
	d := judge.Decide(find, policy.Query{Call: *call, Conditions: given}, r.app.Now)
	for _, reason := range d.Reasons {
		if rule := reason.Rule; rule != nil && rule.Source != umpire.SourceBuiltin && reason.Verdict != umpire.Allow {
			return "its own rule speaks about the command"
		}
	}
	return ""
}
