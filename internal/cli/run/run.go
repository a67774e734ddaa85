// Package run is the commands that run something, or say what would happen:
//
//   - `umpire run`, `umpire chat` and `umpire demo` give the built-in agent its task, its tools and its terminal.
//   - `umpire try` runs a command whose effects become real only when a person keeps them, and `umpire undo`
//     undoes kept effects.
//   - `umpire check` decides one call, or a stream of calls, and gives the reasons.
package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent"
	"github.com/umpirehq/umpire/internal/agent/llm"
	"github.com/umpirehq/umpire/internal/agent/tool"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/hold/egress"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/internal/view"
)

// runFlags are the flags of `umpire run`.
type runFlags struct {
	model, modelLog   string
	effort            string
	mode              string
	allowBypass       bool
	addDirs           []string
	allowedTools      []string
	profile           string
	goOn              bool
	session, fork     string
	allowCrossProject bool
	sandbox           string
	loosens           bool // the sandbox is looser than the configured one
	json              bool
}

// NewCommand is `umpire run`.
func NewCommand(a *app.App) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:     "run [flags] [TASK]",
		Short:   "Give the built-in agent a task; every call goes through the gate",
		Long:    longRun,
		Example: runExample,
		RunE: func(cmd *cobra.Command, words []string) error {
			return runTask(cmd.Context(), a, &f, strings.Join(words, " "))
		},
	}
	f.defineFlags(cmd.Flags())
	completeAgentFlags(a, cmd)
	return cmd
}

// defineFlags defines the flags.
func (f *runFlags) defineFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.model, "model", "", "the `MODEL` to ask: anthropic:NAME, openai:NAME, or script:FILE")
	flags.StringVar(&f.effort, "effort", "",
		"how hard the model should think: low, medium or high (`EFFORT`; default: the model's own)")
	flags.StringVar(&f.modelLog, "model-log", "", "append every request to the model to `FILE`, one JSON object a line")
	flags.StringVar(&f.mode, "permission-mode", "",
		"`MODE`: default, auto, ask, reject, plan or bypass (default: from the configuration)")
	flags.BoolVar(&f.allowBypass, "allow-bypass", false, "permit the mode bypass")
	flags.StringArrayVar(&f.addDirs, "add-dir", nil, "count `DIR` as inside the project; may be repeated")
	flags.StringArrayVar(&f.allowedTools, "allowed-tools", nil,
		"allow these `RULES`, in short form: Read,'Bash(npm test:*)'")
	flags.SetNormalizeFunc(allowedToolsAliases)
	flags.StringVar(&f.profile, "agent", "", "run as this `PROFILE` of the configuration's agents (default: main)")
	flags.BoolVar(&f.goOn, "continue", false, "continue the latest session of this worktree")
	flags.StringVar(&f.session, "session", "", "resume the session `ID`")
	flags.StringVar(&f.fork, "fork", "",
		"start a session with a copy of the conversation of session `ID`, without its grants")
	flags.BoolVar(&f.allowCrossProject, "allow-cross-project-session", false,
		"permit continuing a session of another project")
	flags.StringVar(&f.sandbox, "sandbox", "",
		"what commands may change: `SANDBOX` is read-only, workspace-write or full-access "+
			"(default: from the configuration)")
	flags.BoolVar(&f.json, "json", false, "write the session's events as lines of JSON, and nothing else")
}

// check rejects conflicting flags, and a run with nothing to do.
func (f *runFlags) check(task string) error {
	const hint = "umpire run --help"
	if err := f.checkSession(hint); err != nil {
		return err
	}
	if task == "" && !f.goOn && f.session == "" && f.fork == "" {
		return app.Usage(hint, "want a TASK, or --continue to resume the latest session")
	}
	return nil
}

// checkSession refuses flags about the session that do not go together.
func (f *runFlags) checkSession(hint string) error {
	chosen := 0
	for _, is := range []bool{f.goOn, f.session != "", f.fork != ""} {
		if is {
			chosen++
		}
	}
	switch {
	case chosen > 1:
		return app.Usage(hint, "--continue, --session and --fork cannot be combined")
	case chosen > 0 && len(f.addDirs) > 0:
		return app.Usage(hint, "--add-dir is for a new session")
	case chosen > 0 && len(f.allowedTools) > 0:
		return app.Usage(hint, "--allowed-tools is for a new session")
	case chosen > 0 && f.profile != "":
		return app.Usage(hint, "--agent is for a new session")
	}
	return nil
}

// An agentRun is one run of the built-in agent: its flags and resources.
type agentRun struct {
	*app.App

	flags *runFlags
	conf  *config.Config
	gate  umpire.Gate
	// entrance is the gate as the person sees it, for choosing a session; nil where an agent
	// started this process.
	personGate umpire.Gate
	mode       *umpire.Mode // nil: as configured
	// asks says that the person at this terminal answers questions; headless, that
	// questions cannot be answered. If neither is set, a gate runs and waits for an answer.
	asks, headless bool
	// inBrowser says that questions are answered in a browser, and not announced here.
	inBrowser bool
	// answer answers questions in place of a person; nil leaves them to one.
	answer func(context.Context, umpire.Pending) error
}

// runTask runs the built-in agent until it has nothing more to do.
func runTask(ctx context.Context, a *app.App, f *runFlags, task string) error {
	if err := f.check(task); err != nil {
		return err
	}
	s := &agentRun{App: a, flags: f}
	if err := s.prepare(); err != nil {
		return err
	}
	model, closeLog, err := s.model()
	if err != nil {
		s.RemarkAll(s.conf.Notices) // a notice may explain the missing model
		return err
	}
	defer closeLog()
	as, err := f.credential(a)
	if err != nil {
		return err
	}
	gate, runs, done, err := a.ReachGate(ctx, as, "")
	if err != nil {
		return err
	}
	defer done()
	s.gate = gate
	if runs && as == app.AgentCredential {
		asPerson, done, err := s.personsGate(ctx)
		if err != nil {
			return err
		}
		defer done()
		s.personGate = asPerson
	}
	s.attendance(runs)
	if s.asks && app.RefuseRunner(ctx, s.App, gate, "run") != nil {
		s.asks, s.headless = false, true // a process started by an agent's run cannot answer either
	}
	session, err := s.enterSession(ctx, task)
	if err != nil {
		return err
	}
	return s.runAgent(ctx, session, model, task)
}

// personsGate dials the gate that runs for the person who started this run, if a person
// did: which folder, mode and session it works in is theirs to choose. All that follows is
// the agent's.
func (s *agentRun) personsGate(ctx context.Context) (umpire.Gate, func(), error) {
	if s.NeedPerson("choosing a session") != nil {
		return nil, func() {}, nil //nolint:nilerr // continue as an agent
	}
	c, err := s.DialGate(ctx, s.conf.Listen, app.PersonCredential)
	if c == nil || err != nil {
		return nil, func() {}, err
	}
	return c, app.GateCloser(c), nil
}

// credential returns the credential of the run: loosening a session needs a person.
func (f *runFlags) credential(a *app.App) (app.Credential, error) {
	for flag, given := range map[string]bool{
		"--allow-bypass": f.allowBypass, "--allow-cross-project-session": f.allowCrossProject,
		"--sandbox " + f.sandbox: f.loosens,
		"--add-dir":              len(f.addDirs) > 0, "--allowed-tools": len(f.allowedTools) > 0,
	} {
		if !given {
			continue
		}
		return app.PersonCredential, a.NeedPerson("umpire run " + flag)
	}
	return app.AgentCredential, nil
}

// prepare reads the configuration, and the flags that override it.
func (s *agentRun) prepare() error {
	conf, err := s.LoadConfig(s.Dir)
	if err != nil {
		return err
	}
	s.conf = conf
	if err := s.flags.checkSandbox(conf); err != nil {
		return err
	}
	mode, err := app.PickMode("--permission-mode", s.flags.mode, s.flags.allowBypass, conf)
	if err != nil {
		return err
	}
	if s.flags.mode != "" {
		s.mode = &mode
	}
	for i, dir := range s.flags.addDirs {
		dir = s.Absolute(dir)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return app.Usage("", "--add-dir %s: no such folder", dir)
		}
		s.flags.addDirs[i] = dir
	}
	_, err = app.ProfileOf(conf, s.flags.profile)
	return err
}

// attendance finds out how questions are answered: by a running gate, by a person at
// this terminal, or not at all.
func (s *agentRun) attendance(runs bool) {
	if runs {
		return
	}
	s.asks = s.Terminal || s.personAtStreams()
	if s.asks && s.NeedPerson("answering") != nil {
		s.asks = false // an agent with a terminal is not a person
	}
	s.headless = !s.asks
}

// personAtStreams reports whether a person can read and answer although standard
// output goes elsewhere.
func (s *agentRun) personAtStreams() bool {
	in, isFile := s.Stdin.(*os.File)
	errors, toFile := s.Stderr.(*os.File)
	return isFile && toFile && app.IsTerminal(in) && app.IsTerminal(errors)
}

// runAgent lets the agent work in a session that is this process's.
func (s *agentRun) runAgent(ctx context.Context, session umpire.Session, model llm.Model, task string) error {
	worker := &agent.Agent{Gate: s.gate, Model: model, System: agent.Prompt(&session), Runner: session.Runner,
		Sandbox: s.confinement()}
	box, tools, cleanUp, err := s.toolbox(ctx, &session, worker.Output)
	if err != nil {
		return err
	}
	defer cleanUp()
	from, err := s.lastSeqBefore(ctx, session.ID)
	if err != nil {
		return app.GateError(err)
	}
	worker.Tools, worker.From, worker.Ask = box, from, s.answer
	if worker.Sub = s.subAgents(model, &session); worker.Sub != nil {
		worker.Sub.Leave = true
	}
	view := &runView{App: s.App, session: session.ID, json: s.flags.json,
		quiet: s.asks || s.inBrowser || s.answer != nil}
	worker.Handler = view
	if s.asks {
		asker, err := s.newAsker()
		if err != nil {
			return err
		}
		defer asker.closeTerminal()
		worker.Ask = asker.askPerson
	}
	outcome, err := worker.Run(ctx, session, task)
	view.settle("")
	s.leaveBackground(ctx, tools, err == nil)
	if err != nil {
		return s.brokenOff(ctx, session.ID, err)
	}
	err = s.verdict(outcome, session.ID)
	if exited, is := errors.AsType[*app.CommandError](err); is && outcome.Unattended > 0 &&
		exited.Code == app.ExitDenied {
		exited.Hint = cmp.Or(s.suggestRules(ctx, &session, view.unattended), exited.Hint)
	}
	return err
}

// suggestRules returns the command that adds rules for the calls, or "" if no rule would
// help.
func (s *agentRun) suggestRules(ctx context.Context, session *umpire.Session, calls []umpire.BatchCall) string {
	var commands []string
	for i := range calls {
		d, err := s.gate.Check(ctx,
			umpire.Call{Tool: calls[i].Tool, Input: calls[i].Input, Dir: session.Dir}) // as if a person were present
		if err != nil || len(d.Suggestions) == 0 {
			continue
		}
		if command := "umpire rules add " + app.RuleWords(&d.Suggestions[0]); !slices.Contains(commands, command) {
			commands = append(commands, command)
		}
	}
	return strings.Join(commands, " && ")
}

// backgroundGrace is how long background commands may continue when the agent has
// finished.
const backgroundGrace = 10 * time.Second

// leaveBackground waits for the background jobs, and ends those that continue.
func (s *agentRun) leaveBackground(ctx context.Context, tools *tool.Set, wait bool) {
	if wait && len(tools.Running()) > 0 {
		tools.Wait(ctx, backgroundGrace)
	}
	for _, job := range tools.Running() {
		s.Remark(fmt.Sprintf(s.Text.Of("ending %s, which still runs in the background: %s"), job.ID,
			app.Clip(view.Visible(job.Command))))
	}
	tools.Close()
}

// toolbox creates all tools of a session: its own and those of MCP servers. Background
// jobs belong to the session's own tools, which are returned separately.
func (s *agentRun) toolbox(ctx context.Context, session *umpire.Session,
	onOutput func(umpire.CallID, string)) (agent.Toolbox, *tool.Set, func(), error) {
	own, cleanUp, err := s.tools(session, onOutput)
	if err != nil {
		return nil, nil, nil, err
	}
	servers := s.mcpServers(ctx, session)
	return agent.Toolbox{own, agent.Only(servers, s.listedIn(session))}, own, func() { servers.Close(); cleanUp() }, nil
}

// tools makes the tools of a session, with a private folder for their output.
func (s *agentRun) tools(session *umpire.Session, onOutput func(umpire.CallID, string)) (*tool.Set, func(), error) {
	sandbox.SweepScratch(os.TempDir())
	scratch, release, err := sandbox.MakeScratch(os.TempDir())
	if err != nil {
		return nil, nil, app.Failed(umpire.Errorf("a folder for outputs: %w", err))
	}
	var added []string
	for _, dir := range session.AddDirs {
		if path, err := filepath.EvalSymlinks(dir); err == nil {
			added = append(added, path)
		}
	}
	place := s.place(session, added, scratch)
	tidied := app.TidyUp(context.Background(), s.App, s.conf)
	set := tool.New(tool.Options{
		Root: session.Root, AddDirs: added, Home: s.UserHome(), Env: os.Environ(), Scratch: scratch, Output: onOutput,
		MayRead: s.mayRead, Exit: s.exitOf(session), Leave: s.leave, State: s.StateDir(), Vault: app.NewVault(s.App),
		EnvListed: s.conf.SandboxEnv, Sandbox: place, Weaker: s.conf.SandboxRequire != config.RequireFull,
	})
	set.Keep(s.listedIn(session))
	return set, func() {
		set.Close()
		if err := place.Forget(); err != nil {
			s.RemarkError(err)
		}
		release()
		tidied()
	}, nil
}

// mayRead reports whether the agent may read a file unasked, as the gate decides.
func (s *agentRun) mayRead(ctx context.Context, call umpire.Call, path string) bool {
	input, err := json.Marshal(map[string]string{"file_path": path})
	if err != nil {
		return false
	}
	d, err := s.gate.Check(ctx,
		umpire.Call{Tool: "Read", Input: input, Dir: call.Dir, Session: call.Session, Agent: call.Agent})
	return err == nil && d.Verdict == umpire.Allow
}

// exitOf returns a function that returns the way of a session's trial to destinations.
func (s *agentRun) exitOf(session *umpire.Session) func(*umpire.Call, []string) (*egress.Proxy, error) {
	project, id := session.Project, session.ID
	return func(call *umpire.Call, reach []string) (*egress.Proxy, error) {
		leases, err := app.LeasesIn(s.App, project, id)
		if err != nil {
			return nil, err
		}
		way := s.wayOf(call, reach)
		way.Listed, way.Network, way.Leases = s.conf.Listed, s.conf.Autonomy.Network, leases
		way.SSH = app.SSHOf(s.App)
		return egress.NewProxy(way)
	}
}

// leave returns the way of an allowed call to the destinations that it names, and to those that the person listed. No
// request is read, because the call may also send.
func (s *agentRun) leave(call *umpire.Call, named []string) (*egress.Proxy, error) {
	if s.conf.Sandbox.Network {
		return nil, nil //nolint:nilnil // the person opened the network to each command
	}
	hosts, _ := egress.Hosts(s.conf.Listed)
	way := s.wayOf(call, slices.Concat(named, hosts, s.conf.Listed))
	way.Network = umpire.NetworkOnce
	return egress.NewProxy(way)
}

// wayOf returns the way of a call to approved destinations. The gate decides and asks about others.
func (s *agentRun) wayOf(call *umpire.Call, approved []string) egress.Way {
	return egress.Way{
		Approved: approved,
		Decide: func(ctx context.Context, to umpire.Call) (umpire.Decision, error) {
			to.Dir, to.Session, to.Agent = call.Dir, call.Session, call.Agent
			return s.gate.Check(ctx, to)
		},
		Ask: func(ctx context.Context, d egress.Destination, why egress.Reason) bool {
			return app.AskToConnect(ctx, s.gate, call, d, why)
		},
	}
}

func (s *agentRun) profileOf(session *umpire.Session) config.Agent {
	return s.conf.Agents[cmp.Or(session.Profile, config.MainAgent)]
}

// verdict returns the exit code of a run without errors.
func (s *agentRun) verdict(o agent.Outcome, id umpire.SessionID) error {
	goOn := "umpire run --session " + string(id)
	switch {
	case o.Waiting > 0:
		return &app.CommandError{Code: app.ExitAsks, Hint: "umpire pending",
			Err: umpire.Errorf("session %s waits for answers, but this process cannot ask a person: %d", id, o.Waiting)}
	case o.Idle:
		return app.Refused(goOn+" TASK", "session %s has no open calls", id)
	case o.Cancelled:
		return &app.CommandError{
			Code: app.ExitDenied, Hint: goOn + " TASK", Err: errors.New("the turn was cancelled"),
		}
	case o.Unattended > 0:
		return &app.CommandError{Code: app.ExitDenied, Hint: "umpire serve",
			Err: umpire.Errorf("denied because no person could be asked: %d", o.Unattended)}
	case o.Late > 0:
		return &app.CommandError{Code: app.ExitAsks, Hint: goOn + " TASK",
			Err: umpire.Errorf("denied, because no answer came before the deadline: %d", o.Late)}
	case o.Stop == llm.StopCut:
		return &app.CommandError{Code: app.ExitError, Hint: goOn + ` "go on"`,
			Err: umpire.Errorf("the last reply was cut off at the model's length limit")}
	case o.Stop == llm.StopRefused:
		return &app.CommandError{Code: app.ExitError, Hint: goOn + " TASK",
			Err: umpire.Errorf("the provider blocked the model's reply")}
	}
	return nil
}

// brokenOff explains the early end of a run, and how to resume it.
func (s *agentRun) brokenOff(ctx context.Context, id umpire.SessionID, err error) error {
	goOn := "umpire run --session " + string(id)
	_, ofModel := errors.AsType[*agent.ModelError](err)
	switch {
	case errors.Is(err, app.ErrUnconfirmed):
		return &app.CommandError{Code: app.ExitAsks, Hint: goOn,
			Err: umpire.Errorf("the calls of session %s still wait, but no person can answer", id)}
	case ctx.Err() != nil:
		return &app.CommandError{Code: app.ExitError, Hint: goOn,
			Err: umpire.Errorf("interrupted; you can resume session %s", id)}
	case ofModel:
		return &app.CommandError{Code: app.ExitError, Hint: goOn, Err: err}
	}
	exited, _ := errors.AsType[*app.CommandError](app.GateError(err))
	if exited.Hint == "" && exited.Code != app.ExitRefused {
		exited.Hint = goOn
	}
	return exited
}

// completeAgentFlags completes the flags of a command that runs the built-in agent.
func completeAgentFlags(a *app.App, cmd *cobra.Command) {
	app.CompleteWords(cmd, "permission-mode", app.ModeNames()...)
	app.CompleteWords(cmd, "sandbox", config.SandboxModes...)
	app.CompleteWords(cmd, "effort", llm.Efforts...)
	app.CompleteWith(cmd, "agent", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		c, err := a.LoadConfig(a.Dir)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp // the command itself reports the error
		}
		return slices.Sorted(maps.Keys(c.Agents)), cobra.ShellCompDirectiveNoFileComp
	})
	app.CompleteWith(cmd, "model",
		cobra.FixedCompletions(modelKinds, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
}

// modelKinds begin the names of models.
var modelKinds = []string{"anthropic:", "openai:", "openai-responses:", "openai-chat:", "script:"}

// longRun is the long help of `umpire run`.
const longRun = `Gives the built-in agent a task and runs it to the end. Every tool call goes through the
gate, which decides it, stores it before it runs, and holds it while it asks a person. Calls
of one message run in order, after all of them are decided.

Questions go to:
  a gate runs (umpire serve)     its inbox: umpire pending, umpire approve
  no gate, but a terminal        you, right here
  neither                        no one: umpire denies the call and tells the model

The assistant's words go to standard output, and a line for each call to standard error.
With --json the session's events go to standard output instead, one JSON object a line.

Everything is stored as it happens. To resume an interrupted run, use --continue or
--session ID: no call runs twice, and umpire asks you about a call that may have run. With
--session ID, a TASK is queued if the session waits or another process runs it.

The model is --model, or model of the agent's profile:
  anthropic:NAME    Anthropic's; the key is ANTHROPIC_API_KEY, the server ANTHROPIC_BASE_URL
  openai:NAME       OpenAI's; the key is OPENAI_API_KEY. With OPENAI_BASE_URL, a server that
                    speaks Chat Completions; openai-responses:NAME and openai-chat:NAME
                    choose the interface whatever the server is
  script:FILE       no model: plays a script
The keys do not reach the commands that the agent runs.

--model script:FILE plays a script: a JSON array of turns, each {"text", "calls":
[{"id", "tool", "input"}], "delay_ms"}, all optional, each the reply to one request; past
the end it says "done".

The exit code is 0 if the agent finished, even if you denied some calls; 2 if calls were
denied because nobody could be asked, or you cancelled the turn; 3 if calls still wait, or
got no answer before the deadline; 6 if there is nothing to resume, or the session is not
available.`

const runExample = `  umpire run --model script:demo.json "fix the tests"
  umpire run --model anthropic:claude-sonnet-5 "fix the tests"
  umpire run --model script:demo.json --continue
  umpire run --model script:demo.json --session s4k7m "and now the docs" --json`
