// Package hosts is the commands for other agents:
//
//   - `umpire setup` adds umpire's hook to the settings of agents, shows each change, and can undo it byte for byte.
//   - `umpire doctor` looks at umpire's files and at those settings, tries the registered hook, and runs an agent
//     on a scripted model.
//   - `umpire hook` answers one permission question.
//   - `umpire proxy` stands between two programs, and answers or asks as the messages pass.
package hosts

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/gate/batch"
	"github.com/umpirehq/umpire/internal/hold/process"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/relay"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/policy"
)

// NewHookCommand is `umpire hook`.
func NewHookCommand(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "hook AGENT", Short: "Answer another agent's permission question", Long: hookHelp,
		ValidArgs: host.Names(), DisableFlagParsing: true, Annotations: map[string]string{app.ForPrograms: "yes"},
	}
	cmd.Flags().String("home", "",
		"umpire's folder, `DIR`; setup adds this, and it overrides the environment")
	cmd.Flags().String("host-dir", "",
		"the agent's settings folder, `DIR`; setup adds this if yours is not the usual one")
	cmd.Flags().String("deadline", "",
		"deny if there is no answer after this `TIME`; setup sets it 5s below the agent's limit")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			args = []string{""}
		}
		if isHelp(args[0]) {
			return cmd.Help()
		}
		if code := answerHook(cmd.Context(), a, args); code != app.ExitDone {
			return &app.CommandError{Code: code}
		}
		return nil
	}
	return cmd
}

// hookHelp is the long help of `umpire hook`.
const hookHelp = `Reads an agent's question on standard input and writes the answer in the agent's
own words on standard output. Agents start it by themselves: see umpire setup.

A question that cannot be read or decided is denied.`

func isHelp(arg string) bool { return arg == "-h" || arg == "--help" || arg == "help" }

// AnswerFast answers `umpire hook AGENT` before the command tree is built: the
// agent's user waits for it at every call. It reports whether it did.
func AnswerFast(ctx context.Context, a *app.App) (code int, ok bool) {
	if len(a.Args) < 2 || a.Args[0] != "hook" || isHelp(a.Args[1]) {
		return 0, false
	}
	return answerHook(ctx, a, a.Args[1:]), true
}

// answerHook answers one question of the agent that args name.
func answerHook(ctx context.Context, a *app.App, args []string) int {
	registered := *a
	registered.Getenv = relay.Registered(a.Getenv, args)
	a = &registered
	profile, _ := process.StartProfile(a.Getenv, "hook") // a hook must not fail because of it
	front := host.Front{
		Stdin: a.Stdin, Stdout: a.Stdout, Stderr: a.Stderr, Getenv: a.Getenv, Dir: a.Dir, Now: a.Now,
		Responder: newResponder(a), Nonce: rand.Text, Profile: profile,
		Line:   func(ctx context.Context, _ *host.Question) (*relay.Line, error) { return findLine(ctx, a) },
		Runner: func() string { return process.Host(os.Getppid()) },
		Observes: func() bool {
			c, err := a.ReadUserConfig()
			return err == nil && c.Observes()
		},
	}
	front.Responder.Decided = func(_ *host.Question, project string, _ *umpire.Decision) { keepSnapshot(a, project) }
	if code, known := front.Answer(ctx, args); known {
		return code
	}
	fmt.Fprintf(a.Stderr, "umpire: %s\n%s\n", view.Visible(fmt.Sprintf(a.Text.Of("unknown agent %q: want one of %s"),
		args[0], strings.Join(host.Names(), ", "))), view.Joined(a.Text.Of("next"), ": ", "umpire setup --list"))
	return app.ExitDenied // agents take any other code as permission to continue
}

// newResponder returns a responder that reads the configuration for each question.
func newResponder(a *app.App) *host.Responder {
	return newResponderWith(a, a.ReadConfig)
}

// newResponderWith returns one that reads the configuration in its own way.
func newResponderWith(a *app.App, read func(dir string) (*config.Config, error)) *host.Responder {
	return &host.Responder{
		Config: func(project string) (host.Config, error) { return readResponderConfig(a, read, project) },
		Now:    a.Now,
		Home:   a.UserHome(),

		Remember: rememberWrites(a), Rewriter: &rewriter{app: a}, TurnLine: turnLines(a, read),
		Observed: func(call *umpire.Call, d *umpire.Decision) {
			if err := app.KeepObservation(a, call, d); err != nil {
				a.RemarkError(err)
			}
		},
	}
}

// NewGateResponder returns the responder of a running gate.
func NewGateResponder(a *app.App, g *gate.Gate) *host.Responder {
	kept := &config.Kept{Home: a.Home(), Read: a.ReadConfig}
	d := newResponderWith(a, kept.Of)
	d.Admit, d.Hash, d.Rewriter = g.Admit, batch.ArgsHash, &rewriter{a, g}
	return d
}

func readResponderConfig(
	a *app.App, read func(dir string) (*config.Config, error), project string,
) (host.Config, error) {
	c, err := read(project)
	if err != nil {
		return host.Config{}, err
	}
	return host.Config{
		Settings: c.Settings.Settings, Root: c.Root,
		Decide: func(ctx context.Context, project string, q policy.Query) umpire.Decision {
			g := gate.New(a.GateConfig(c))
			defer g.Close()
			return g.Projects().Judge(ctx, project, q)
		},
		Ended: func(ctx context.Context, project string, call umpire.Call, output string) error {
			g := gate.New(a.GateConfig(c))
			defer g.Close()
			return g.Projects().Ended(ctx, project, call, output)
		},
	}, nil
}

// findLine finds the gate for a question. The deciding part reports errors of the
// configuration. If umpire only observes, an unreachable gate does not stop anything.
func findLine(ctx context.Context, a *app.App) (*relay.Line, error) {
	c, err := a.ReadUserConfig()
	if err != nil {
		return nil, nil //nolint:nilerr // see above
	}
	line, err := dialLine(ctx, a, c)
	if err != nil && c.Observes() {
		return nil, nil
	}
	return line, err
}

func dialLine(ctx context.Context, a *app.App, c *config.Config) (*relay.Line, error) {
	where, err := a.ReadListenAddress(c.Listen)
	if err != nil {
		return nil, err
	}
	conn, err := where.Dial(ctx)
	if errors.Is(err, relay.ErrAbsent) {
		return nil, nil
	}
	if err != nil {
		return nil, &app.CommandError{Code: app.ExitGate, Err: err}
	}
	token, err := app.ReadToken(a.StateDir(), where, app.AgentCredential, "")
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	name := "localhost"
	if where.Network == app.NetworkTCP {
		name = where.Name
	}
	return &relay.Line{Host: name, Token: token, Conn: conn,
		Dial: func(ctx context.Context) (io.ReadWriteCloser, error) { return where.Dial(ctx) }}, nil
}
