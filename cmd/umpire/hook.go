package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/adapter"
)

// Agents run a call when their hook crashes, is late or babbles. So whatever
// goes wrong here becomes a denial in the agent's own words: one line on stdout,
// a reason on stderr, exit 2.

// claudeDefaultTimeout is how long Claude Code waits for a hook when the
// settings name no time limit.
const claudeDefaultTimeout = 600 * time.Second

// deadlineMargin is how long before the agent's time limit umpire says no by
// itself: a busy machine needs time to start a process and to end one.
const deadlineMargin = 5 * time.Second

// A hookAgent is an agent whose questions `umpire hook` answers.
type hookAgent struct {
	name     string
	deadline time.Duration
	answer   func(*app, context.Context, *hookRun) adapter.Output
	// fail is the answer when there is no decision. About is what the payload
	// said before things went wrong: the event, or the tool.
	fail func(about string, problem error) adapter.Output
}

// hookAgents are all of them.
var hookAgents = []hookAgent{
	{"claude", claudeDefaultTimeout - deadlineMargin, (*app).answerClaude, adapter.FailClaude},
	{"muse", claudeDefaultTimeout - deadlineMargin, (*app).answerMuse, adapter.FailMuse},
}

// hookCommand is `umpire hook`.
func (a *app) hookCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "hook AGENT", Short: a.text.of("Answer another agent's permission question"), Long: a.text.of(hookHelp),
		ValidArgs: hookNames(), DisableFlagParsing: true,
	}
	cmd.Flags().String("deadline", "", a.text.of("deny by itself after this time; init writes it 5s below the agent's own limit"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 || isHelp(args[0]) {
			return cmd.Help()
		}
		if code := a.hook(cmd.Context(), args); code != exitDone {
			return &exit{code: code}
		}
		return nil
	}
	return cmd
}

const hookHelp = `Reads an agent's question on standard input and writes the answer in the agent's
own words on standard output. Agents start it by themselves: see umpire init.

What cannot be read or decided is denied.`

func hookNames() []string {
	var names []string
	for _, agent := range hookAgents {
		names = append(names, agent.name)
	}
	return names
}

func isHelp(arg string) bool { return arg == "-h" || arg == "--help" || arg == "help" }

// fastHook answers `umpire hook AGENT` before the command tree is built: the
// agent's user waits for it at every call. It reports whether it did.
func (a *app) fastHook(ctx context.Context) (code int, ok bool) {
	if len(a.args) < 2 || a.args[0] != "hook" || isHelp(a.args[1]) {
		return 0, false
	}
	return a.hook(ctx, a.args[1:]), true
}

// hook answers one question of the agent that args name.
func (a *app) hook(ctx context.Context, args []string) int {
	for _, agent := range hookAgents {
		if agent.name != args[0] {
			continue
		}
		deadline, err := hookDeadline(args[1:], agent.deadline)
		if err != nil {
			return a.leave(agent.fail("", err))
		}
		return a.leave(a.watch(ctx, agent, a.newHookRun(deadline)))
	}
	fmt.Fprintf(a.stderr, "umpire: %s: %q; %s: %v\n", a.text.of("unknown agent"), args[0], a.text.of("known agents"), hookNames())
	return exitUsage
}

// hookDeadline reads the one option there is.
func hookDeadline(args []string, otherwise time.Duration) (time.Duration, error) {
	if len(args) == 0 {
		return otherwise, nil
	}
	text, joined := strings.CutPrefix(args[0], "--deadline=")
	switch {
	case joined && len(args) == 1:
	case args[0] == "--deadline" && len(args) == 2:
		text = args[1]
	default:
		return 0, fmt.Errorf("arguments %q are not understood; want --deadline DURATION", args)
	}
	deadline, err := time.ParseDuration(text)
	if err != nil || deadline <= 0 {
		return 0, fmt.Errorf("--deadline %q: want a duration above zero, such as 595s", text)
	}
	return deadline, nil
}

// A hookRun is what the one who decides tells the one who watches.
type hookRun struct {
	started time.Time
	given   time.Duration          // the deadline as it was given
	about   atomic.Pointer[string] // what the question is about, once it is known
	limit   atomic.Int64           // the configured deadline, once it is known
	limited chan struct{}          // bears one message when it is
	holding atomic.Bool            // a gate may hold the call: ending takes a moment
}

func (a *app) newHookRun(deadline time.Duration) *hookRun {
	return &hookRun{started: a.now(), given: deadline, limited: make(chan struct{}, 1)}
}

func (r *hookRun) isAbout(s string) { r.about.Store(&s) }

func (r *hookRun) knownAbout() string {
	if s := r.about.Load(); s != nil {
		return *s
	}
	return ""
}

// limitTo sets the configured deadline; it is called once at most.
func (r *hookRun) limitTo(deadline time.Duration) {
	r.limit.Store(int64(deadline))
	r.limited <- struct{}{}
}

// deadline is the configured one if it comes before the given one.
func (r *hookRun) deadline() time.Duration {
	if limit := time.Duration(r.limit.Load()); limit > 0 {
		return min(limit, r.given)
	}
	return r.given
}

// left is how much of the deadline is left.
func (r *hookRun) left(now time.Time) time.Duration { return r.deadline() - now.Sub(r.started) }

// withdrawTime is how long a call that waits may take to be withdrawn when the agent
// ends the hook.
const withdrawTime = time.Second

// watch lets the agent's question be answered and denies it when no answer
// comes in time. It does not wait for an answer that is late: the process ends.
func (a *app) watch(ctx context.Context, agent hookAgent, run *hookRun) adapter.Output {
	answer := make(chan adapter.Output, 1)
	go func() { answer <- a.answerSafely(ctx, agent, run) }()
	timer := time.NewTimer(run.given)
	defer timer.Stop()
	for {
		select {
		case out := <-answer:
			if run.left(a.now()) > 0 {
				return out
			}
			return agent.fail(run.knownAbout(), errLate)
		case <-run.limited:
			timer.Reset(run.left(a.now()))
		case <-timer.C:
			return agent.fail(run.knownAbout(), errLate)
		case <-ctx.Done():
			if run.holding.Load() {
				waitFor(answer, withdrawTime)
			}
			return agent.fail(run.knownAbout(), errors.New("interrupted"))
		}
	}
}

// waitFor waits for an answer that nobody needs any more, but not for long.
func waitFor(answer <-chan adapter.Output, limit time.Duration) {
	select {
	case <-answer:
	case <-time.After(limit):
	}
}

var errLate = errors.New("no decision before the deadline")

// answerSafely makes a panic a denial. The stack is left out: it would show
// what the call holds.
func (a *app) answerSafely(ctx context.Context, agent hookAgent, run *hookRun) (out adapter.Output) {
	defer func() {
		if problem := recover(); problem != nil {
			out = agent.fail(run.knownAbout(), fmt.Errorf("internal error: %v", problem))
		}
	}()
	return agent.answer(a, ctx, run)
}

// leave writes an answer and returns the exit code. An answer that could not be
// written must not look like none: exit 2 blocks without words.
func (a *app) leave(out adapter.Output) int {
	if len(out.Stderr) > 0 {
		a.stderr.Write(out.Stderr) //nolint:errcheck // there is nowhere left to say so
	}
	if len(out.Stdout) == 0 {
		return out.Exit
	}
	if _, err := a.stdout.Write(out.Stdout); err != nil {
		return exitDenied
	}
	return out.Exit
}

// payload reads the question.
func (a *app) payload() ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(a.stdin, adapter.MaxPayload+1))
	if err != nil {
		return nil, fmt.Errorf("read the payload: %w", err)
	}
	if len(data) > adapter.MaxPayload {
		return nil, fmt.Errorf("the payload is larger than %d bytes", adapter.MaxPayload)
	}
	return data, nil
}

// hookConfig reads the configuration of a project and obeys its deadline.
func (a *app) hookConfig(run *hookRun, project string) (*config, error) {
	c, err := a.config(project)
	if err != nil {
		return nil, err
	}
	if c.hookDeadline > 0 {
		run.limitTo(c.hookDeadline)
	}
	return c, nil
}

// unenforced is the answer of a gateway that only warns: no opinion.
func unenforced(d umpire.Decision) adapter.Output {
	if d.Verdict == umpire.Allow {
		return adapter.Output{}
	}
	text := fmt.Sprintf("umpire: not enforced, would have answered %s: %s", d.Verdict, adapter.Visible(cmp.Or(d.Reason, "no reason")))
	return adapter.Output{Stderr: []byte(text + "\n")}
}
