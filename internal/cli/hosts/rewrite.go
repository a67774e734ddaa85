package hosts

import (
	"context"
	"crypto/rand"
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
	"github.com/umpirehq/umpire/internal/hold/process"
	"github.com/umpirehq/umpire/internal/hold/trial"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/setup"
	"github.com/umpirehq/umpire/internal/judge"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/server"
	"github.com/umpirehq/umpire/policy"
)

// A rewriter has command lines of agents run by umpire.
type rewriter struct {
	app *app.App
	// gate is the running gate; if nil, each ticket opens the store.
	gate *gate.Gate
}

var _ host.Rewriter = (*rewriter)(nil)

// Command is this very program. A folder other than the usual one is named, because the
// environment of the command may name another.
func (r *rewriter) Command() []string {
	words := []string{r.app.Executable, "exec"}
	if usual := filepath.Join(r.app.UserHome(), ".umpire"); r.app.Home() != usual {
		words = append(words, "--home", r.app.Home())
	}
	return words
}

// Allows reports whether the host's rules can all be read, and leave the call to umpire.
func (r *rewriter) Allows(ctx context.Context, q *host.Question, project string, call *umpire.Call) bool {
	return r.findObstacle(ctx, q, project, call) == nil
}

// Answer answers a question through a gate of this process.
func (r *rewriter) Answer(ctx context.Context, q *host.Question) (out host.Output, err error) {
	asked := *q
	asked.Runner, asked.Nonce = hostOf(q), rand.Text()
	err = r.withGate(ctx, func(g *gate.Gate) error {
		by := NewGateResponder(r.app, g)
		by.UseGate(server.Local(g, app.ClientName), func(context.Context, umpire.SessionID) bool { return false })
		out, err = by.Answer(ctx, asked)
		return err
	})
	return out, err
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

// End holds the effects of a ticket's line.
func (r *rewriter) End(ctx context.Context, _ *host.Question, secret string) error {
	return r.withGate(ctx, func(g *gate.Gate) error {
		_, err := g.Tickets().End(ctx, umpire.TicketEnd{Secret: secret})
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

// rulesElsewhere are options of Claude Code that add rules which are not in a file, or in
// a file that umpire does not read.
var rulesElsewhere = []string{"--settings", "--disallowedTools", "--disallowed-tools", "--agents", "--agent"}

// findObstacle returns why a call is not rewritten, or nil if it may be.
func (r *rewriter) findObstacle(ctx context.Context, q *host.Question, project string, call *umpire.Call) error {
	args, alive := process.ArgumentsOf(hostOf(q))
	if !alive {
		return errors.New("the asking process is unknown")
	}
	if err := canTry(ctx, r.app, project); err != nil {
		return err
	}
	if q.Agent == setup.Claude.Host {
		return r.matchRules(project, call, func(at *gate.Project) (setup.Limits, error) {
			return claudeLimits(r.app.UserHome(), q, args, project, at)
		})
	}
	getenv, alive := process.EnvironmentOf(hostOf(q))
	if !alive {
		return errors.New("the environment of the process that asks cannot be read")
	}
	start := setup.Start{
		Args: args, Getenv: getenv, Home: r.app.UserHome(), Folder: q.HostDir, Project: project,
		Turn: host.CodexTurnOf(q),
	}
	return r.matchRules(project, call, func(*gate.Project) (setup.Limits, error) { return start.Limits(q.Agent) })
}

// claudeLimits returns the rules of Claude Code's settings, except for those that allow.
func claudeLimits(
	home string, q *host.Question, args []string, project string, at *gate.Project,
) (setup.Limits, error) {
	for _, arg := range args {
		if name, _, _ := strings.Cut(arg, "="); slices.Contains(rulesElsewhere, name) {
			return setup.Limits{}, umpire.Errorf("it was started with %s", name)
		}
	}
	layers, err := readableSettings(home, q.HostDir, project)
	if err != nil {
		return setup.Limits{}, err
	}
	set := rulefile.Load(layers, nil, at.Options())
	if set.Degraded != "" {
		return setup.Limits{}, errors.New(set.Degraded)
	}
	allows := func(rule umpire.Rule) bool { return rule.Action == umpire.Allow }
	return setup.Limits{Rules: slices.DeleteFunc(set.Rules, allows)}, nil
}

// neverRewrites returns the reason why umpire replaces no command of a host in a project, or nil when
// it replaces some. The reason depends neither on the command nor on how the host was started.
func neverRewrites(ctx context.Context, a *app.App, h *host.Host, project string) error {
	conf, err := a.ReadConfig(project)
	switch {
	case err != nil:
		return err
	case !h.Replaced():
		return errors.New("umpire does not replace them")
	case conf.Hook.NeverRewrite:
		return errors.New("hook.rewrite is off")
	case !conf.Autonomy.UnknownCode && !conf.Autonomy.Deletes && !conf.Autonomy.Edits:
		return errors.New("autonomy is low")
	}
	if h.Name == setup.Claude.Host {
		if _, err = readableSettings(a.UserHome(), a.Getenv("CLAUDE_CONFIG_DIR"), project); err != nil {
			return err
		}
	}
	return canTry(ctx, a, project)
}

// canTry is an error where no command of a project can be tried.
func canTry(ctx context.Context, a *app.App, project string) error {
	p, err := a.FindProject(project)
	if err != nil {
		return err
	}
	if runtime.GOOS != "linux" || !filepath.IsAbs(a.Executable) ||
		!trial.Works(ctx, app.TrialPlace(a, p, nil), a.StateDir(), p.Root, a.Now()) {
		return errUntried
	}
	return nil
}

// readableSettings returns the existing settings files of Claude Code. The error says why
// nothing may be rewritten in this project.
func readableSettings(home, hostDir, project string) ([]rulefile.Layer, error) {
	var layers []rulefile.Layer
	for _, path := range claudeRuleFiles(home, hostDir, project) {
		isolates, err := turnsSandboxOn(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		case isolates:
			return nil, umpire.Errorf("%s turns on its own sandbox", path)
		}
		layers = append(layers, rulefile.Layer{
			Source: umpire.SourceUser, Path: path, Format: rulefile.FormatClaudeSettings,
		})
	}
	return layers, nil
}

var errUntried = errors.New("no command can be tried here")

// claudeRuleFiles are all files that Claude Code may take rules from, whether they are there or not.
func claudeRuleFiles(home, user, project string) []string {
	if user == "" {
		user = filepath.Join(home, ".claude")
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
	return append(all, setup.ManagedFiles()...)
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

// matchRules is an error when a rule of the host speaks about a call, or the call is about a path
// outside the project and the host asks about those.
func (r *rewriter) matchRules(
	project string, call *umpire.Call, read func(*gate.Project) (setup.Limits, error),
) error {
	g := r.gate
	if g == nil {
		conf, err := r.app.ReadConfig(project)
		if err != nil {
			return err
		}
		g = gate.New(r.app.GateConfig(conf))
		defer g.Close()
	}
	at, err := g.Projects().Project(project)
	if err != nil {
		return err
	}
	limits, err := read(at)
	if err != nil {
		return err
	}
	theirs, err := policy.New(limits.Rules, policy.Options{Root: at.Root, Home: at.Home, FoldCase: at.FoldCase})
	if err != nil {
		return err
	}
	find := func() (*judge.Judge, error) {
		j, err := g.Projects().JudgeOf(project)
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
			return umpire.Errorf("its own rule %s applies to the command", rule.ID)
		}
	}
	for i := range d.Accesses {
		if a := &d.Accesses[i]; limits.Outside && a.Paths() && a.Place == umpire.PlaceOutside {
			return umpire.Errorf("it asks about paths outside the project, such as %s", a.Target)
		}
	}
	return nil
}
