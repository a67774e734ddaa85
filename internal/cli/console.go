package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/cli/rules"
	"github.com/umpirehq/umpire/internal/cli/run"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/console"
	"github.com/umpirehq/umpire/internal/console/notice"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/gate/history"
	"github.com/umpirehq/umpire/internal/gate/task"
	"github.com/umpirehq/umpire/internal/hold/trial"
	"github.com/umpirehq/umpire/internal/server"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// clientConsole is the console's name on the record.
const clientConsole = "console"

// newConsoleCommand is `umpire console`.
func newConsoleCommand(a *app.App) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use: "console", Args: app.RefuseWords,
		Short:   "Answer in a browser",
		Long:    consoleLong,
		Example: "  umpire console\n  umpire console --name Ana",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkName(cmd, name); err != nil {
				return err
			}
			conf, err := a.LoadConfig(a.Dir)
			if err != nil {
				return err
			}
			return untilInterrupted(cmd.Context(), followConsole(cmd.Context(), a, conf, name, false))
		},
	}
	addNameFlag(cmd, &name)
	return cmd
}

func addNameFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "name", "", "sign the browser in with this person's name, for the timeline")
}

// checkName refuses a name that cannot be on the record, and an empty one.
func checkName(cmd *cobra.Command, name string) error {
	if !cmd.Flags().Changed("name") {
		return nil
	}
	if err := console.CheckName(name); err != nil {
		return app.Usage(cmd.CommandPath()+" --help", "--name: %w", err)
	}
	return nil
}

// followConsole asks the gate to open its console, and shows the link and the codes only on the
// terminal of this process: anyone who has them can act for the person. A remote link is for a
// phone, and shown as a code to scan. It signs in the person with a name, or "".
func followConsole(ctx context.Context, a *app.App, conf *config.Config, name string, remote bool) error {
	gate, err := a.DialExpectedGate(ctx, conf, app.PersonCredential, "")
	if err != nil {
		return err
	}
	if gate == nil {
		return app.Refused("umpire serve", "the console needs a running gate, and there is none")
	}
	defer gate.Close()
	command, show := "console", showLink
	if remote {
		command, show = "console pair", showLinkCode
	}
	if err := app.RefuseRunner(ctx, a, gate, command); err != nil {
		return err
	}
	tty, err := a.OpenTerminal()
	if err != nil {
		return app.Refused(a.Text.Of("run it in a terminal"), "the link is shown on a terminal only: %w", err)
	}
	defer tty.Close()
	lang := a.Text.Word("language tag", "en")
	return app.GateError(server.OpenConsole(ctx, gate, lang, name, remote, func(link string, codes io.Reader) error {
		if err := show(a, tty, link); err != nil {
			return err
		}
		said := a.Text.Of("Codes for answers are shown here. Ctrl-C ends this; the page stays open.")
		_, err := fmt.Fprintln(tty, said)
		if err == nil {
			_, err = io.Copy(tty, codes)
		}
		return err
	}))
}

// showLink shows a link for signing in on this machine.
func showLink(a *app.App, tty *os.File, link string) error {
	_, err := fmt.Fprintf(tty, "%s\n  %s\n", app.IntroduceLink(a.Text), link)
	return err
}

// minProxySecret is the shortest secret of a proxy: as many random letters cannot be guessed.
const minProxySecret = 20

// listenConsole opens the console's listener at the address of the flag or the configuration.
func (c *serveCommand) listenConsole(
	ctx context.Context, conf *config.Config, pages *console.Console, push *notice.Push,
) error {
	if c.console != "" {
		if err := pages.Listen(ctx, c.console); err != nil {
			return &app.CommandError{Code: app.ExitError, Err: umpire.Errorf("--console: %w", err),
				Hint: "umpire serve --console 127.0.0.1:7576"}
		}
	}
	if !conf.Console.On() {
		return nil
	}
	at := console.Remote{Origin: conf.Console.Origin, Listen: conf.Console.Listen, Push: push}
	if name := conf.Console.CertificateFile; name != "" {
		folder := filepath.Join(c.KeysDir(), "console")
		at.Certificate = console.CertificateIn(filepath.Join(folder, name), filepath.Join(folder, conf.Console.KeyFile))
	}
	if header := conf.Console.UserHeader; header != "" {
		secret, err := files.ReadSecret(filepath.Join(c.KeysDir(), "console", conf.Console.SecretFile))
		if err == nil && len(secret) < minProxySecret {
			err = umpire.Errorf("want a secret of at least %d characters", minProxySecret)
		}
		if err != nil {
			return umpire.Errorf("console: secret_file: %w", err)
		}
		at.Proxy = &console.Proxy{UserHeader: header, Secret: secret}
	}
	if err := pages.ListenRemote(ctx, at); err != nil {
		return umpire.Errorf("console: %w", err)
	}
	return nil
}

// newConsole returns the console of a gate in this process. Its open pages count as inboxes.
func newConsole(a *app.App, g *gate.Gate, log *slog.Logger, attend func() func()) *console.Console {
	local := server.Local(g, clientConsole)
	in := func(text *catalogue.Language) *app.App {
		reader := *a
		reader.Text = text
		return &reader
	}
	return console.New(console.Config{
		Gate:   local,
		GateOf: func(person string) umpire.Gate { return server.LocalAs(g, clientConsole, person) },
		Dir:    a.Dir, Home: a.UserHome(), NewCode: app.NewCode, Attend: attend, Log: log,
		Passkeys: filepath.Join(a.StateDir(), "passkeys.json"),
		Changes: func(ctx context.Context, text *catalogue.Language, p *umpire.Pending, s *umpire.Session) string {
			if tried := run.DescribeTrial(in(text), p); tried != "" {
				return tried
			}
			return app.PreviewCall(ctx, in(text), local, p, s).Diff
		},
		Tasks: func(ctx context.Context, text *catalogue.Language, s *umpire.Session) (task.Desk, error) {
			return rules.Desks(in(text), local)(ctx, s)
		},
		Suggest: func(ctx context.Context, text *catalogue.Language, since time.Time) ([]history.Saving, error) {
			return rules.Suggest(ctx, in(text), local, since)
		},
		TryRule: func(
			ctx context.Context, text *catalogue.Language, dir, action, rule string, since time.Time,
		) (string, error) {
			return rules.TryRule(ctx, in(text), local, dir, action, rule, since)
		},
		Undoable: func() (map[umpire.CallID][]console.Undoable, error) { return listUndoable(a.StateDir()) },
		Undo: func(ctx context.Context, text *catalogue.Language, by umpire.Gate, id string) (string, error) {
			return run.UndoInGate(ctx, in(text), by, id)
		},
	})
}

// newDemoConsole returns the console of the demo's gate.
func newDemoConsole(a *app.App, g *gate.Gate) *console.Console { return newConsole(a, g, nil, nil) }

// listUndoable lists the undoable changes of calls.
func listUndoable(stateDir string) (map[umpire.CallID][]console.Undoable, error) {
	kept, err := trial.Undoable(stateDir, "")
	all := map[umpire.CallID][]console.Undoable{}
	for i := range kept {
		k := &kept[i]
		if k.Call == "" {
			continue
		}
		of := console.Undoable{ID: k.ID, Session: k.Session}
		for _, change := range k.Changes {
			of.Paths = append(of.Paths, change.Path)
		}
		all[k.Call] = append(all[k.Call], of)
	}
	return all, err
}
