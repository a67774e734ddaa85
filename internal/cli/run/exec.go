package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/tool"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/hold/egress"
	"github.com/umpirehq/umpire/internal/hold/process"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/internal/hold/trial"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/relay"
	"github.com/umpirehq/umpire/internal/judge"
	"github.com/umpirehq/umpire/internal/project"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/policy"
	"github.com/umpirehq/umpire/shell"
)

// NewExecCommand returns `umpire exec`, which agents start in place of their own command.
func NewExecCommand(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "exec TICKET -- COMMAND", Args: cobra.ArbitraryArgs,
		Annotations: map[string]string{app.ForPrograms: "yes"},
		Short:       "Run an agent's command with the ticket from its hook",
		Long:        execLong,
		RunE: func(cmd *cobra.Command, words []string) error {
			with := *a
			if home, err := cmd.Flags().GetString("home"); err == nil && home != "" {
				with.Getenv = relay.Registered(a.Getenv, []string{"", "--home", home})
			}
			if len(words) != 3 || words[1] != "--" {
				return app.Usage(cmd.CommandPath()+" --help", "want TICKET -- COMMAND, where the command is one word")
			}
			return runTicket(cmd.Context(), &with, words[0], words[2])
		},
	}
	cmd.Flags().String("home", "",
		"umpire's folder, `DIR`; the hook adds this, and it overrides the environment")
	cmd.Flags().SetInterspersed(false)
	return cmd
}

const execLong = `Agents start this in place of their own command when umpire's hook tells them to: see
umpire setup. The command runs as a trial. umpire keeps its changes at once if they need
no question, and umpire undo undoes them. Otherwise they wait for a person, and it ends
with exit code 3; umpire try --list shows them.

A ticket is good for one command, in one folder, for a minute. Without a valid ticket
nothing runs.`

// An execution is one command line that runs by its ticket.
type execution struct {
	*app.App

	secret  string
	ticket  umpire.Ticket
	shell   process.Shell
	config  *config.Config
	project *project.Project
	state   string
	ahead   *sandbox.Ahead
	profile *process.Profile
	// late says that the caller no longer waits for the command; its effects are then held
	late atomic.Bool
}

// runTicket takes the ticket, runs its line as a trial, and keeps the effects if they need no
// question.
func runTicket(ctx context.Context, a *app.App, mark, line string) error {
	secret, ours := strings.CutPrefix(mark, host.TicketMark)
	if !ours {
		return app.Usage("umpire setup claude", "%q is not a ticket", mark)
	}
	collectLater()
	e := &execution{App: a, secret: secret, ahead: sandbox.StartAhead(pipedInput(a.Stdin))}
	defer e.ahead.End()
	e.profile, _ = process.StartProfile(a.Getenv, "exec") // the agent that reads its output cannot help
	if err := e.lookAround(ctx); err != nil {
		return err
	}
	e.profile.End(process.ConfigRead)
	if err := e.take(ctx, line); err != nil {
		return err
	}
	e.profile.End(process.TicketTaken)
	result, err := e.runLine(ctx)
	if errors.Is(err, trial.ErrUnavailable) {
		if err := trial.NoteUnavailable(e.state, e.project.Root); err != nil {
			e.RemarkError(err) // the next one ends in the same words
		}
		if e.ticket.Trial == "" {
			return e.runPlain()
		}
		err = errors.Join(err, e.giveUp(ctx, err))
		return &app.CommandError{Code: exitUnavailable, Err: err, Hint: "umpire doctor"}
	}
	if err != nil {
		return app.Failed(errors.Join(err, e.giveUp(ctx, err)))
	}
	err = e.settle(ctx, result)
	e.profile.End(process.EffectsSettled)
	return err
}

// lookAround gathers the facts that are needed before the ticket is used.
func (e *execution) lookAround(ctx context.Context) (err error) {
	if e.Dir, err = filepath.EvalSymlinks(e.Dir); err != nil {
		return app.Failed(err)
	}
	var known bool
	if e.shell, known = process.ShellOf(os.Getppid()); !known || !isHostShell(e.shell.Program) {
		return app.Refused("umpire try -- COMMAND", "a ticket is for a command that bash or zsh runs for an agent")
	}
	if e.config, err = e.LoadConfig(e.Dir); err != nil {
		return err
	}
	if e.project, err = e.FindProject(e.Dir); err != nil {
		return err
	}
	e.state, err = prepareState(ctx, e.App)
	return err
}

// isHostShell reports whether a program is one of the shells that a line is quoted for.
func isHostShell(program string) bool {
	return slices.ContainsFunc([]string{"bash", "zsh"}, func(name string) bool {
		return strings.HasPrefix(filepath.Base(program), name) // zsh-5.9
	})
}

// take uses the ticket.
func (e *execution) take(ctx context.Context, line string) error {
	use := umpire.TicketUse{
		Secret: e.secret, Line: line, Dir: e.Dir, User: os.Getuid(), Above: process.Above(os.Getpid()),
		Runner: process.NameOf(os.Getpid()),
	}
	return e.WithGate(ctx, app.AgentCredential, func(g umpire.Gate) (err error) {
		e.ticket, err = g.Tickets().Use(ctx, use)
		return err
	})
}

// args returns the command for the line: the host's own shell, with the functions and
// options that the host has given it. Seen lists the files from which the shell reads them.
func (e *execution) args() (args, seen []string) {
	script := "eval " + shell.Quote(e.ticket.Line)
	if before, _, found := strings.Cut(e.shell.Script, " && eval "); found {
		snapshot, _, _ := strings.Cut(strings.TrimPrefix(before, "source "), " 2>")
		if snapshot = strings.Trim(snapshot, `'"`); filepath.Base(filepath.Dir(snapshot)) == hostSnapshots {
			script, seen = before+" && "+script, []string{snapshot}
		}
	}
	return []string{e.shell.Program, "-c", script}, seen
}

// hostSnapshots is the folder in which Claude Code stores the initial state of its shells.
const hostSnapshots = "shell-snapshots"

// hostVariables are prefixes of a host's private environment variables: sockets, tokens and
// ids of its session.
var hostVariables = []string{
	"CLAUDE_CODE_", "CLAUDE_PID", "CLAUDE_EFFORT", "ANTHROPIC_", "CODEX_", "GEMINI_CLI_", "COPILOT_", "OPENCODE_",
}

// env is the environment of the line.
func (e *execution) env() []string {
	return slices.DeleteFunc(tool.SandboxEnv(os.Environ(), e.config.SandboxEnv), func(pair string) bool {
		return slices.ContainsFunc(hostVariables, func(name string) bool { return strings.HasPrefix(pair, name) })
	})
}

// named returns the paths outside of the project that the line names and may see, and those that it may
// write. All of them are allowed if the call was started.
func (e *execution) named() (seen, written []string) {
	if !strings.ContainsAny(e.ticket.Line, "~/$") {
		return nil, nil // deciding takes a while
	}
	d, err := decideCommand(e.App, e.ticket.Session, e.Dir, e.ticket.Line)
	if err != nil {
		return nil, nil // the line does not find them
	}
	return tool.NamedOutside(&d, e.ticket.Trial == "")
}

// runLine runs the line as a trial.
func (e *execution) runLine(ctx context.Context) (*trial.Result, error) {
	signal.Ignore(syscall.SIGPIPE) // if the host is gone, its command continues
	signals := make(chan os.Signal, 1)
	passed := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx)) // the command handles signals itself
	defer stop()
	go e.watch(ctx, signals, passed)
	args, seen := e.args()
	named, written := e.named()
	e.profile.End(process.LineJudged)
	way, err := e.way()
	if err != nil {
		return nil, err
	}
	exit, err := egress.NewProxy(way)
	if err != nil {
		return nil, err
	}
	return trial.Run(ctx, trial.Spec{
		Args: args, Env: e.env(), Dir: e.Dir, Seen: append(seen, named...), Stdin: pipedInput(e.Stdin),
		Signals: passed, Stdout: lasting{e.Stdout}, Stderr: lasting{e.Stderr},
		Temporary: sandbox.TemporaryFolder{
			Path: sandbox.Temporary, Named: written,
			Session: e.ticket.Session, Ledger: sandbox.NewScratchLedger(e.state, e.Now),
		},
		Place: app.TrialPlace(e.App, e.project, e.config.SandboxShow), Again: e.sayAgain,
		Exit: exit, Ahead: e.ahead, State: trial.LayersIn(e.state), Profile: e.profile,
	})
}

// way returns the line's way to destinations. The person is asked if they would see the question.
func (e *execution) way() (egress.Way, error) {
	leases, err := app.LeasesIn(e.App, e.project.ID, e.ticket.Session)
	way := egress.Way{
		Listed: e.config.Listed, Network: e.config.Autonomy.Network, Approved: e.ticket.Reach, Leases: leases,
		SSH:    app.SSHOf(e.App),
		Decide: e.decideTo,
	}
	if app.MayAskToConnect(e.config, e.ticket.Attended) {
		way.Ask = e.askTo
	}
	return way, err
}

// askTo asks the gate, and so the person, about a destination of the line.
func (e *execution) askTo(ctx context.Context, d egress.Destination, why egress.Reason) (yes bool) {
	call, err := app.CommandCall(e.ticket.Line)
	if err != nil {
		return false
	}
	call.Session, call.Dir = e.ticket.Session, e.Dir
	err = e.WithGate(ctx, app.AgentCredential, func(g umpire.Gate) error {
		yes = app.AskToConnect(ctx, g, &call, d, why)
		return nil
	})
	return yes && err == nil
}

// decideTo asks the gate about a call of the line's session.
func (e *execution) decideTo(ctx context.Context, call umpire.Call) (d umpire.Decision, err error) {
	call.Session, call.Dir = e.ticket.Session, e.Dir
	err = e.WithGate(ctx, app.AgentCredential, func(g umpire.Gate) error {
		d, err = g.Check(ctx, call)
		return err
	})
	return d, err
}

// hostWatch is how often to check whether the host is still alive.
const hostWatch = 250 * time.Millisecond

// watch forwards signals, and sets late when the host is gone or has ended the command.
func (e *execution) watch(ctx context.Context, signals <-chan os.Signal, passed chan<- os.Signal) {
	ticker := time.NewTicker(hostWatch)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-signals:
			e.late.Store(true)
			passed <- s
		case <-ticker.C:
			e.lookForHost()
		}
	}
}

func (e *execution) lookForHost() {
	if alive, known := process.Alive(e.ticket.Host); e.ticket.Host != "" && known && !alive {
		e.late.Store(true)
	}
}

// A lasting writer ignores write errors, so the command survives the end of its reader.
type lasting struct{ to io.Writer }

func (l lasting) Write(p []byte) (int, error) {
	_, _ = l.to.Write(p) // see above
	return len(p), nil
}

// runPlain runs the line as the host would have: it was allowed, and cannot run as a trial here.
func (e *execution) runPlain() error {
	args, _ := e.args()
	cmd := exec.Command(args[0], args[1:]...) //nolint:noctx // it ends as it would have without umpire
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = e.Dir, e.Stdin, e.Stdout, e.Stderr
	cmd.Env = slices.DeleteFunc(os.Environ(), func(pair string) bool {
		return strings.HasPrefix(pair, process.ProfileVariable+"=")
	})
	err := cmd.Run()
	if exited, is := errors.AsType[*exec.ExitError](err); is {
		return &app.CommandError{Code: exited.ExitCode()}
	}
	return app.Failed(err)
}

// giveUp ends a trial without a result, and its call.
func (e *execution) giveUp(ctx context.Context, why error) error {
	if e.ticket.Trial == "" {
		return nil
	}
	return e.WithGate(context.WithoutCancel(ctx), app.AgentCredential, func(g umpire.Gate) error {
		_, err := g.Trials().Settle(ctx, umpire.TrialSettlement{
			Trial: e.ticket.Trial, Session: e.ticket.Session, Batch: e.ticket.Batch, State: umpire.TrialDiscarded,
			Reason: why.Error(),
		})
		if err == nil {
			_, err = g.Finish(ctx, umpire.Result{
				Session: e.ticket.Session, Batch: e.ticket.Batch, Call: e.ticket.Call, Status: umpire.ResultCancelled,
				Output: why.Error(),
			})
		}
		return err
	})
}

// settle reports the line's effects, keeps or holds them, and returns the matching exit code.
func (e *execution) settle(ctx context.Context, result *trial.Result) error {
	e.lookForHost()
	late := e.late.Load() || ctx.Err() != nil
	ctx = context.WithoutCancel(ctx)
	h := &trial.Held{
		ID: filepath.Base(result.Layer.Dir), Time: e.Now().UTC(), Command: e.ticket.Line, Root: e.project.Root,
		Call: e.ticket.Call, Session: e.ticket.Session, Batch: e.ticket.Batch, Trial: e.ticket.Trial,
		Exit: result.Exit, Layer: result.Layer, Effects: result.Effects, Network: len(e.ticket.Reach) > 0,
	}
	seen, output := result.Layer.Describe(&result.Effects), strings.ToValidUTF8(string(result.Output), "�")
	if err := trial.Hold(e.state, h); err != nil {
		return app.Failed(errors.Join(err, h.Layer.Discard()))
	}
	return e.WithGate(ctx, app.AgentCredential, func(g umpire.Gate) error {
		if e.ticket.Trial == "" {
			return e.keepUndoable(ctx, g, h, &seen, output, late)
		}
		ended, err := g.Tickets().End(ctx, umpire.TicketEnd{Secret: e.secret, Report: &umpire.TicketReport{
			Exit: result.Exit, Output: output, Effects: seen, Late: late,
		}})
		e.profile.End(process.EffectsDecided) // the gate has also kept them, if it could
		b := ended.Batch
		if err == nil {
			b, err = e.keepHere(ctx, g, b)
		}
		if err != nil {
			return err
		}
		return e.tell(&b, h, &seen)
	})
}

// keepHere keeps approved effects that the gate could not keep because it runs on
// another machine.
func (e *execution) keepHere(ctx context.Context, g umpire.Gate, b umpire.Batch) (umpire.Batch, error) {
	if c := b.Call(e.ticket.Call); c == nil || c.State != umpire.CallApproved || c.Trial != e.ticket.Trial {
		return b, nil
	}
	keeper := &trial.Keeper{State: e.state, Vault: app.NewVault(e.App), Limits: app.UndoLimits(e.config)}
	return gate.KeepTrial(ctx, g, keeper, umpire.Start{
		Session: b.Session, Batch: b.ID, Call: e.ticket.Call, Runner: process.NameOf(os.Getpid()),
	})
}

// tell writes the result of a trial for the reader of the output.
func (e *execution) tell(b *umpire.Batch, h *trial.Held, seen *umpire.TrialEffects) error {
	c := b.Call(e.ticket.Call)
	switch {
	case c == nil:
		return app.Failed(umpire.Errorf("the gate does not know call %q", e.ticket.Call))
	case c.State == umpire.CallAsked && c.TrialState != umpire.TrialWaiting:
		return e.sayDropped(seen, e.Text.Of(againText), app.ExitAsks)
	case c.State == umpire.CallAsked:
		return e.hold(h, seen, e.Text.Reason(c.Reason))
	case c.Result != nil && (c.Result.Status == umpire.ResultDenied || c.Result.Status == umpire.ResultCancelled):
		return e.sayDropped(seen, e.Text.Reason(c.Reason), app.ExitDenied)
	case c.Result != nil && c.Result.Code == umpire.CodeChanged && c.TrialState == umpire.TrialConflict:
		return e.hold(h, seen, e.Text.Of(conflictText(h, c.Result.Output)))
	case c.Result != nil && c.Result.Code == umpire.CodeChanged:
		return e.sayDropped(seen, view.Visible(c.Result.Output), app.ExitRefused)
	}
	e.sayRefused(seen.Refused)
	return exitOf(h.Exit)
}

// conflictText describes the conflict of a line's effects.
func conflictText(h *trial.Held, result string) string {
	switch full := trial.ErrWouldForget.Error(); {
	case strings.Contains(result, full):
		return full
	case len(h.Effects.Stale) > 0:
		return "other calls changed files while it ran, and it may have read those files"
	}
	return "somebody else has changed the same files"
}

// keepUndoable keeps the effects of an allowed line. It holds effects that need a person's approval.
func (e *execution) keepUndoable(
	ctx context.Context, g umpire.Gate, h *trial.Held, seen *umpire.TrialEffects, output string, late bool,
) error {
	if !late {
		ended, err := g.Tickets().End(ctx, umpire.TicketEnd{Secret: e.secret})
		if err != nil {
			return err
		}
		late = !ended.First
	}
	app.RecordUses(ctx, e.App, umpire.SecretUses{
		Dir: e.Dir, Session: e.ticket.Session, Batch: e.ticket.Batch, Call: e.ticket.Call, Command: e.ticket.Line,
	}, &h.Effects)
	err := e.keepAllowed(ctx, h, seen, late)
	result := umpire.Result{
		Session: e.ticket.Session, Batch: e.ticket.Batch, Call: e.ticket.Call, Status: umpire.ResultOK,
		Output: output,
	}
	if err != nil {
		result.Status = umpire.ResultError
	}
	if _, told := g.Finish(ctx, result); told != nil && !errors.Is(told, umpire.ErrState) {
		e.RemarkError(told) // the effects are kept anyway
	}
	return err
}

func (e *execution) keepAllowed(
	ctx context.Context, h *trial.Held, seen *umpire.TrialEffects, late bool,
) error {
	if len(seen.List) == 0 && seen.Whole {
		e.sayRefused(seen.Refused)
		_, err := h.Keep(ctx, trial.KeepSpec{State: e.state})
		return errors.Join(app.Failed(err), exitOf(h.Exit))
	}
	if late {
		return e.hold(h, seen, e.Text.Of("its caller was gone"))
	}
	d := e.decide(seen, h.Exit)
	e.profile.End(process.EffectsDecided)
	if d.Verdict != umpire.Allow {
		return e.hold(h, seen, e.Text.Reason(d.Reason))
	}
	if _, err := h.Keep(ctx, trial.KeepSpec{
		State: e.state, Vault: app.NewVault(e.App), Limits: app.UndoLimits(e.config),
	}); err != nil {
		return e.hold(h, seen, e.Text.Error(keepError(h, err)))
	}
	return exitOf(h.Exit)
}

// sayAgain says that the line runs a second time.
func (e *execution) sayAgain(changed []string) {
	text := e.Text.Of("this runs again from the beginning, because %s changed while it ran")
	fmt.Fprintf(e.Stderr, "umpire: "+text+"\n", view.Visible(changed[0]))
}

// exitOf ends with the exit code of the line.
func exitOf(code int) error {
	if code == 0 {
		return nil
	}
	return &app.CommandError{Code: code}
}

// decide decides about the line's effects.
func (e *execution) decide(seen *umpire.TrialEffects, exit int) umpire.Decision {
	g := gate.New(e.GateConfig(e.config))
	defer g.Close()
	call, err := app.CommandCall(e.ticket.Line)
	if err != nil {
		return umpire.Decision{}
	}
	call.ID, call.Session, call.Dir = e.ticket.Call, e.ticket.Session, e.Dir
	q := policy.Query{Call: call, Conditions: policy.Conditions{Mode: e.config.Mode}}
	return g.Projects().DecideEffects(e.project.Root, q, judge.NeededEffects(seen, exit))
}

// heldText tells the reader of a command's output that its changes are waiting.
const heldText = "this ran in a trial, and nothing of it is real yet: it waits for review as %s (%s). %s. Continue " +
	"with something else, or wait until a person keeps it."

// againText tells the agent how to run a command again that failed to reach a host.
const againText = "it failed because it could not reach a host; when a person has allowed it, run the same " +
	"command again"

// sayDropped says that the effects of the line will never become real.
func (e *execution) sayDropped(seen *umpire.TrialEffects, why string, code int) error {
	text := e.Text.Of("this ran in a trial, and nothing of it is real: %s.")
	fmt.Fprintf(e.Stderr, "umpire: "+text+"\n", view.Visible(strings.TrimSuffix(why, ".")))
	e.sayRefused(seen.Refused)
	return &app.CommandError{Code: code}
}

// hold leaves the effects to a person, and tells the reader of the output.
func (e *execution) hold(h *trial.Held, seen *umpire.TrialEffects, why string) error {
	changes := e.Text.Count(len(seen.List), "%d change", "%d changes")
	why = view.Visible(strings.TrimSuffix(why, "."))
	fmt.Fprintf(e.Stderr, "umpire: "+e.Text.Of(heldText)+"\n", h.ID, changes, why)
	e.sayRefused(seen.Refused)
	return &app.CommandError{Code: app.ExitAsks}
}

// sayRefused lists the destinations that the line could not reach, or not in the way it wanted.
func (e *execution) sayRefused(all []umpire.TrialAttempt) {
	for _, r := range all {
		switch r.Kind { //nolint:exhaustive // the others are about files
		case umpire.AttemptNetwork:
			text := e.Text.Of("it wanted %s, which a trial does not reach")
			fmt.Fprintf(e.Stderr, "umpire: "+text+"\n", view.Visible(r.Target))
		case umpire.AttemptSend, umpire.AttemptHostKey, umpire.AttemptSecret:
			said := view.Joined(e.Text.Of("Refused"), ": ", refusal(e.Text, r.Kind, r.Target))
			fmt.Fprintln(e.Stderr, "umpire: "+said)
		}
	}
}
