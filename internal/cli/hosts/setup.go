package hosts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/hold/egress"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/setup"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/policy"
)

// A setupJob is one run of `umpire setup`.
type setupJob struct {
	*app.App
	yes, dryRun, undo, diff, unproven bool
	observe, sandboxProxy             bool
	autonomy                          string
	reach                             []string
	only                              []string

	binary string
	agents []agentPlan
	left   []error // why agents are left alone whose settings cannot be changed
	notes  []string
}

// An agentPlan lists the changes of setup for one agent.
type agentPlan struct {
	job    *initJob
	found  hostProgram
	change settingsChange
	info   fs.FileInfo
	lists  []allowFile
	rules  []umpire.Rule
}

// NewSetupCommand is `umpire setup`.
func NewSetupCommand(a *app.App) *cobra.Command {
	s := &setupJob{App: a}
	cmd := &cobra.Command{
		Use: "setup [AGENT]", Short: "Put umpire in front of the agents on this machine", Long: setupHelp,
		Args: app.WantAtMostOneWord, ValidArgs: registrable(),
		Example: "  umpire setup\n  umpire setup --dry-run\n  umpire setup claude --scope project\n" +
			"  umpire setup --only codex --yes --autonomy medium --reach npm,go\n" +
			"  umpire setup --undo",
	}
	var scope string
	list := false
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case list:
			return listAgents(cmd.Context(), a)
		case len(args) > 0:
			return s.setUpOne(cmd, args[0], scope)
		case cmd.Flags().Changed("scope"):
			return app.Usage("umpire setup claude --scope "+scope, "--scope needs an AGENT")
		}
		return s.setUp(cmd.Context())
	}
	flags := cmd.Flags()
	flags.BoolVar(&s.yes, "yes", false, "ask nothing")
	flags.BoolVar(&s.dryRun, "dry-run", false, "show the changes and write nothing")
	flags.BoolVar(&s.diff, "diff", false, "show every line of the changes")
	flags.BoolVar(&s.undo, "undo", false, "remove everything setup installed")
	flags.BoolVar(&s.unproven, "unproven", false,
		"also set up agents that umpire was never tested with")
	flags.BoolVar(&s.observe, "observe", false,
		"only record what umpire would do, and stop nothing; run umpire setup to end this")
	flags.BoolVar(&s.sandboxProxy, "sandbox-proxy", false,
		"lead connections of Claude Code's own sandbox through network.proxy")
	flags.BoolVar(&list, "list", false, "list the agents that umpire knows, and which have its hook")
	flags.StringVar(&scope, "scope", "user", "with an AGENT, the settings to change, `SCOPE`: user or project")
	flags.StringVar(&s.autonomy, "autonomy", "", "how much runs without a question: `LEVEL` low, medium or high")
	flags.StringSliceVar(&s.reach, "reach", nil, "let commands reach these `HOSTS` or groups; '' for none")
	flags.StringSliceVar(&s.only, "only", nil, "only this `AGENT`; may be repeated")
	app.CompleteWords(cmd, "autonomy", config.LevelNames()...)
	app.CompleteWords(cmd, "reach", egress.GroupNames()...)
	app.CompleteWords(cmd, "only", registrable()...)
	return cmd
}

// setupHelp is the long help of `umpire setup`.
const setupHelp = `Finds the coding agents on this machine and shows what it would change for each:
umpire's hook in their settings, and rules that import their own lists of calls
that run unasked. It asks once, then writes, starts the gate as your service, and
sends each agent's hook a call that must be denied.

With an AGENT, it adds the hook only to that agent's settings, or with --scope project
to those of this project.

--undo removes it all again: it restores the settings byte for byte if they have not
changed since, and removes the imported rules, the autonomy level and the service.`

// setUpOne puts umpire's hook into the settings of one agent, or takes it back.
func (s *setupJob) setUpOne(cmd *cobra.Command, agent, scope string) error {
	for _, flag := range []string{"yes", "autonomy", "reach", "only", "observe"} {
		if cmd.Flags().Changed(flag) {
			return app.Usage("umpire setup --help", "--%s cannot be used with an AGENT, because it is for all of "+
				"them", flag)
		}
	}
	j, err := newInitJob(s.App, agent, initFlags{
		scope: scope, dryRun: s.dryRun, diff: s.diff, undo: s.undo, unproven: s.unproven,
		sandboxProxy: s.sandboxProxy && !s.undo,
	})
	if err != nil {
		return err
	}
	return j.changeFile(cmd.Context())
}

func (s *setupJob) setUp(ctx context.Context) error {
	if s.Home() == "" {
		return app.Usage("export HOME=... or UMPIRE_HOME=...", "there is no home folder to store anything in; set HOME")
	}
	if s.autonomy != "" && !slices.Contains(config.LevelNames(), s.autonomy) {
		return app.Usage("umpire setup --autonomy medium", "--autonomy %q: want one of %s", s.autonomy,
			strings.Join(config.LevelNames(), ", "))
	}
	if _, err := egress.ParseList(s.reach); err != nil {
		return app.Usage("umpire setup --reach npm,go", "--reach: %w", err)
	}
	for _, name := range s.only {
		if !slices.Contains(registrable(), name) {
			return app.Usage("umpire setup --list", "--only %q: umpire registers with %s", name,
				strings.Join(registrable(), ", "))
		}
	}
	if s.undo {
		return s.takeBack(ctx)
	}
	s.plan(ctx)
	defer func() {
		for _, text := range s.notes {
			s.Remark(text)
		}
	}()
	switch {
	case len(s.agents) == 0 && len(s.left) > 0:
		return errors.Join(s.left...)
	case len(s.agents) == 0:
		return app.Usage("umpire demo", "no agent to set up was found; umpire looked for %s",
			strings.Join(registrable(), ", "))
	}
	s.showPlan(ctx)
	if s.dryRun {
		return errors.Join(s.left...)
	}
	if err := s.confirm(ctx); err != nil {
		return err
	}
	return errors.Join(append(s.left, s.carryOut(ctx))...)
}

// plan finds the agents and works out the changes for each.
func (s *setupJob) plan(ctx context.Context) {
	known := map[string]bool{}
	for _, h := range host.Hosts {
		file, ok := setup.Find(h.Name)
		if !ok || len(s.only) > 0 && !slices.Contains(s.only, h.Name) {
			continue
		}
		found := findProgram(ctx, s.App, h)
		if found.Path == "" && !s.hasFolder(file) && len(s.only) == 0 {
			continue
		}
		if h.Evidence == host.Documented && !s.unproven {
			s.notes = append(s.notes, fmt.Sprintf(s.Text.Of("skipped %s, because umpire was never tested with it; "+
				"--unproven sets it up anyway"), h.Title))
			continue
		}
		plan := agentPlan{found: found, job: &initJob{App: s.App, host: h, file: file, quiet: true,
			initFlags: initFlags{scope: "user", diff: s.diff, unproven: s.unproven, observe: s.observe,
				sandboxProxy: s.sandboxProxy && h.Name == setup.Claude.Host}}}
		err := plan.job.leadSandbox()
		if err == nil {
			plan.change, plan.info, err = plan.job.plan(ctx)
		}
		if err != nil {
			s.left = append(s.left, err)
			continue
		}
		plan.lists = readAllowances(s.App, h)
		plan.rules = s.missingRules(importedRules(h, plan.lists, known))
		s.binary, s.notes = cmp.Or(s.binary, s.Executable), append(s.notes, plan.job.notes...)
		plan.job.notes = nil
		s.agents = append(s.agents, plan)
	}
	slices.Sort(s.notes)
	s.notes = slices.Compact(s.notes)
}

// missingRules are those that the person's rules do not have yet.
func (s *setupJob) missingRules(rules []umpire.Rule) []umpire.Rule {
	p, err := s.OpenProject()
	if err != nil {
		return rules
	}
	to, err := p.Layer("global")
	if err != nil {
		return rules
	}
	return slices.DeleteFunc(rules, func(r umpire.Rule) bool {
		_, there := p.Writer().Find(to, r)
		return there
	})
}

// hasFolder reports whether the folder of a host's settings is there, unless it is one that
// others use as well.
func (s *setupJob) hasFolder(file setup.Settings) bool {
	path, err := userFile(s.App, file)
	if err != nil {
		return false
	}
	_, err = os.Stat(path)
	if err == nil || strings.HasPrefix(file.Place.Variable, "XDG_") {
		return err == nil
	}
	shared := func(other setup.Settings) bool {
		return other.Host != file.Host && other.Place.Folder == file.Place.Folder
	}
	if file.Place.Folder == "Documents" || slices.ContainsFunc(setup.All, shared) {
		return false
	}
	_, err = os.Stat(strings.TrimSuffix(path, string(filepath.Separator)+filepath.FromSlash(file.Place.Name)))
	return err == nil
}

// showPlan shows the planned changes.
func (s *setupJob) showPlan(ctx context.Context) {
	for i := range s.agents {
		p := &s.agents[i]
		fmt.Fprintf(s.Stdout, "%s: %s\n", p.job.host.Title, p.found.In(s.Text))
		if p.change.none() {
			fmt.Fprintf(s.Stdout, "  %s: %s\n", view.Visible(p.change.path), s.Text.Of("nothing to change"))
		} else {
			p.job.show(p.change)
		}
		if len(p.rules) > 0 {
			fmt.Fprintf(s.Stdout, "  "+s.Text.Of("%s imported from its own lists:")+"\n",
				s.Text.Count(len(p.rules), "%d rule", "%d rules"))
		}
		for _, r := range p.rules {
			fmt.Fprintf(s.Stdout, "    + %s  %s\n", r.Action, view.Visible(policy.FormatShort(r)))
		}
		s.sayLeftOut(p.lists)
	}
	switch unit := s.service(ctx); {
	case gateRuns(ctx, s.App):
		fmt.Fprintln(s.Stdout, s.Text.Of("Gate: one is running"))
	case unit != nil:
		fmt.Fprintf(s.Stdout, s.Text.Of("Gate: started at login by %s")+"\n", view.Visible(unit.file))
	default:
		fmt.Fprintln(s.Stdout, s.Text.Of("Gate: no systemd or launchd was found that could start it; "+
			"start it yourself: umpire serve"))
	}
	s.showExpected()
}

func (s *setupJob) service(ctx context.Context) *service { return findService(ctx, s.App, s.binary) }

// confirm asks for the autonomy level, and for confirmation.
func (s *setupJob) confirm(ctx context.Context) error {
	if s.yes {
		return nil
	}
	needed := app.Usage("umpire setup --yes", "cannot ask for confirmation without a terminal; pass --yes to apply "+
		"the changes")
	if !s.Terminal {
		return needed
	}
	tty, err := s.OpenTerminal()
	if err != nil {
		return needed
	}
	defer tty.Close()
	if s.autonomy == "" && !s.observe {
		if s.autonomy, err = s.askAutonomy(ctx, tty); err != nil {
			return err
		}
		if s.reach == nil && s.autonomy != "" && s.autonomy != string(policy.AutonomyLow) {
			if s.reach, err = s.askReach(ctx, tty); err != nil {
				return err
			}
		}
	}
	if err := s.askSandbox(ctx, tty); err != nil {
		return err
	}
	return s.Confirm(ctx, tty, "", "y")
}

// askSandbox asks whether Claude Code's own sandbox connects through the gate. It asks nothing unless that sandbox is
// on, has no proxy, and the gate has one.
func (s *setupJob) askSandbox(ctx context.Context, tty *os.File) error {
	c, err := s.ReadUserConfig()
	if err != nil {
		return err
	}
	for i := range s.agents {
		p := &s.agents[i]
		on, ports := setup.ClaudeSandbox(p.change.after)
		if p.job.host.Name != setup.Claude.Host || c.NetworkProxy == "" || !on || len(ports) > 0 {
			continue
		}
		if err := app.DropEarlyKeys(ctx, tty); err != nil {
			return err
		}
		fmt.Fprint(tty, s.Text.Of("Claude Code's own sandbox connects through umpire (y, n; Enter takes n): "))
		said, err := app.ReadTyped(ctx, tty)
		if err != nil || !strings.EqualFold(strings.TrimSpace(said), "y") {
			return err
		}
		p.job.sandboxProxy = true
		if err = p.job.leadSandbox(); err == nil {
			p.change, p.info, err = p.job.plan(ctx)
		}
		if err == nil {
			p.job.show(p.change)
		}
		return err
	}
	return nil
}

// askAutonomy asks how much may run without a question. Enter alone takes medium where commands can be tried
// first and no level was chosen before, and else changes nothing.
func (s *setupJob) askAutonomy(ctx context.Context, tty *os.File) (string, error) {
	fmt.Fprintf(tty, "\n%s\n", s.Text.Of(autonomyQuestion))
	prompt, usual := s.Text.Of("Autonomy (low, medium, high; Enter leaves it as it is): "), ""
	conf, err := s.LoadConfig(s.Dir)
	if err == nil && conf.Source("autonomy.edits") == "default" && sandbox.Available().Whole() {
		fmt.Fprintln(tty, s.Text.Of("medium is recommended: commands are tried first here, and umpire undo reverts "+
			"their changes."))
		prompt, usual = s.Text.Of("Autonomy (low, medium, high; Enter takes medium): "), string(policy.AutonomyMedium)
	}
	if err := app.DropEarlyKeys(ctx, tty); err != nil {
		return "", err
	}
	for {
		fmt.Fprint(tty, prompt)
		said, err := app.ReadTyped(ctx, tty)
		if err != nil {
			return "", err
		}
		if said = cmp.Or(strings.TrimSpace(said), usual); said == "" || slices.Contains(config.LevelNames(), said) {
			return said, nil
		}
	}
}

// askReach asks which hosts commands may fetch from. Enter alone takes the groups that only serve files and
// whose programs are on this machine. It asks nothing if the person listed hosts before, or if nothing leads
// commands to them here.
func (s *setupJob) askReach(ctx context.Context, tty *os.File) ([]string, error) {
	conf, err := s.LoadConfig(s.Dir)
	if err != nil || len(conf.Listed) > 0 || !sandbox.Available().Whole() {
		return nil, nil //nolint:nilerr // a configuration that cannot be read has been reported
	}
	fmt.Fprintf(tty, "\n%s\n", s.Text.Of("Which hosts may tried commands fetch from? They reach no other unasked."))
	var usual []string
	table := app.NewTable(tty)
	for _, g := range egress.Groups() {
		fmt.Fprintf(table, "  %s\t%s\n", g.Name, s.Text.Reason(g.Why))
		found := slices.ContainsFunc(g.Programs, func(program string) bool {
			_, err := exec.LookPath(program)
			return err == nil
		})
		if found {
			usual = append(usual, g.Name)
		}
	}
	if err := table.Flush(); err != nil {
		return nil, app.Failed(err)
	}
	if err := app.DropEarlyKeys(ctx, tty); err != nil {
		return nil, err
	}
	for {
		fmt.Fprintf(tty, s.Text.Of("Groups or hosts (none, or npm,go and the like; Enter takes %s): "),
			cmp.Or(strings.Join(usual, ","), s.Text.Of("none")))
		said, err := app.ReadTyped(ctx, tty)
		if err != nil {
			return nil, err
		}
		switch said = strings.TrimSpace(said); said {
		case "":
			return usual, nil
		case "none", s.Text.Of("none"):
			return nil, nil
		}
		listed := strings.FieldsFunc(said, func(r rune) bool { return r == ',' || r == ' ' || r == '，' })
		if _, err = egress.ParseList(listed); err == nil {
			return listed, nil
		}
		fmt.Fprintln(tty, view.Visible(s.Text.Error(err)))
	}
}

const autonomyQuestion = `How much may run without a question?
  low     calls that only read, and calls that your rules allow (as without this setting)
  medium  edits in the project and local git too; scripts, builds and deletions are tried first;
          a host that you list in autonomy.destinations is asked about once in a session
  high    those hosts without a question as well
"umpire autonomy" changes it at any time.`

// carryOut makes the changes, and remembers them first.
func (s *setupJob) carryOut(ctx context.Context) error {
	m, err := s.readMemory()
	if err != nil {
		return err
	}
	for i := range s.agents {
		p := &s.agents[i]
		m.addHost(p.job.host.Name)
		if err := s.writeMemory(m); err != nil {
			return err
		}
		if err := p.job.apply(ctx, p.change, p.info); err != nil {
			return err
		}
		s.notes = append(s.notes, p.job.notes...)
		p.job.notes = nil
	}
	if err := s.importRules(ctx, m); err != nil {
		return err
	}
	if err := s.setAutonomy(m); err != nil {
		return err
	}
	if err := s.setObserve(m); err != nil {
		return err
	}
	s.startGate(ctx, m)
	if err := s.writeMemory(m); err != nil {
		return err
	}
	if s.observe {
		fmt.Fprintln(s.Stderr, "umpire: "+s.Text.Of("umpire only observes: it stops nothing"))
		fmt.Fprintln(s.Stderr, view.Joined(s.Text.Of("next"), ": ", "umpire status"))
		return nil
	}
	failed := s.tryHooks(ctx)
	fmt.Fprintln(s.Stderr, view.Joined(s.Text.Of("next"), ": ", "umpire watch"))
	if failed > 0 {
		return app.Refused("umpire doctor", "%d of the hooks did not deny the test call", failed)
	}
	return nil
}

// importRules adds the rules to the person's own.
func (s *setupJob) importRules(ctx context.Context, m *setupMemory) error {
	var rules []umpire.Rule
	for i := range s.agents {
		rules = append(rules, s.agents[i].rules...)
	}
	if len(rules) == 0 {
		return nil
	}
	p, err := s.OpenProject()
	if err != nil {
		return err
	}
	to, err := p.Layer("global")
	if err != nil {
		return err
	}
	if err := m.remember(&m.Rules, to.Path); err != nil {
		return app.Failed(err)
	}
	added := 0
	err = s.WithGate(ctx, app.PersonCredential, func(gate umpire.Gate) error {
		for _, r := range rules {
			id, err := gate.Rules().Add(ctx, s.Dir, app.ScopeOf(to), r, umpire.Actor{})
			if err != nil {
				s.notes = append(s.notes, fmt.Sprintf(s.Text.Of("left out: %s"),
					view.Visible(policy.FormatShort(r)+": "+s.Text.Error(err))))
				continue
			}
			m.RuleIDs = append(m.RuleIDs, id)
			added++
		}
		return nil
	})
	if err != nil {
		return err
	}
	m.Rules.done()
	fmt.Fprintf(s.Stderr, "umpire: "+s.Text.Of("%s imported into %s")+"\n",
		s.Text.Count(added, "%d rule", "%d rules"), view.Visible(to.Path))
	return s.writeMemory(m)
}

// setAutonomy writes the level and the hosts into the person's configuration.
func (s *setupJob) setAutonomy(m *setupMemory) error {
	if s.autonomy == "" && s.reach == nil {
		return nil
	}
	path := filepath.Join(s.Home(), config.FileName)
	if err := m.remember(&m.Config, path); err != nil {
		return app.Failed(err)
	}
	if s.autonomy != "" {
		if err := config.WriteAutonomy(path, policy.Level(s.autonomy)); err != nil {
			return app.Failed(err)
		}
		fmt.Fprintf(s.Stderr, "umpire: "+s.Text.Of("autonomy: %s")+"\n", s.autonomy)
	}
	if s.reach != nil {
		if err := config.WriteDestinations(path, s.reach); err != nil {
			return app.Failed(err)
		}
		fmt.Fprintf(s.Stderr, "umpire: "+s.Text.Of("commands reach: %s")+"\n",
			cmp.Or(view.Visible(strings.Join(s.reach, ", ")), s.Text.Of("none")))
	}
	m.Config.done()
	return nil
}

// setObserve writes into the person's configuration whether umpire only observes, if that changes.
func (s *setupJob) setObserve(m *setupMemory) error {
	c, err := s.ReadUserConfig()
	if err != nil {
		return app.Failed(err)
	}
	if c.Hook.Observe == s.observe {
		return nil
	}
	path := filepath.Join(s.Home(), config.FileName)
	if err := m.remember(&m.Config, path); err != nil {
		return app.Failed(err)
	}
	if s.observe {
		if err := app.BeginObserving(s.App); err != nil {
			return app.Failed(err)
		}
	}
	if err := config.WriteObserve(path, s.observe); err != nil {
		return app.Failed(err)
	}
	m.Config.done()
	return nil
}

// startGate installs the gate as a service. Without it umpire works, but stores no questions.
func (s *setupJob) startGate(ctx context.Context, m *setupMemory) {
	if gateRuns(ctx, s.App) {
		return
	}
	unit := s.service(ctx)
	if unit == nil {
		s.notes = append(s.notes, s.Text.Of("the gate does not run: umpire serve starts it"))
		return
	}
	m.Service = true
	if err := unit.install(ctx, s.App); err != nil {
		s.notes = append(s.notes, s.Text.Error(err))
		return
	}
	fmt.Fprintln(s.Stderr, "umpire: "+s.Text.Of("the gate runs, and is started at login"))
}

// tryHooks sends each agent's registered hook a call that must be denied, and returns
// the number of hooks that let it pass.
func (s *setupJob) tryHooks(ctx context.Context) (failed int) {
	for i := range s.agents {
		j := s.agents[i].job
		if err := j.tryHook(ctx, s.agents[i].change.path); err != nil {
			failed++
			fmt.Fprintf(s.Stdout, "%-4s  %s: %s\n", "fail", j.host.Title, view.Visible(s.Text.Error(err)))
			continue
		}
		fmt.Fprintf(s.Stdout, "%-4s  %s: %s\n", "ok", j.host.Title, s.Text.Of("`rm -rf /` is denied"))
	}
	return failed
}

// tryHook runs the canary of one agent.
func (j *initJob) tryHook(ctx context.Context, path string) error {
	text, _, err := readSettings(path)
	if err != nil {
		return err
	}
	hooks, err := j.file.Registered(text)
	if err != nil {
		return err
	}
	if len(hooks) == 0 {
		return umpire.Errorf("%s: umpire's hook is not registered in this file", path)
	}
	canary := newCanary(ctx, j.App, j.host)
	defer canary.End(ctx) //nolint:errcheck // doctor reports such an error
	answer := canary.Ask(ctx, hooks[0], "rm -rf /")
	switch {
	case answer.Err != nil:
		return umpire.Errorf("the hook does not answer: %v", answer.Err)
	case !answer.Denied:
		return umpire.Errorf("`rm -rf /` is not denied: %s", answer)
	}
	return nil
}
