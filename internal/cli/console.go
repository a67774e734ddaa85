package cli

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/cli/try"
	"github.com/umpirehq/umpire/internal/client"
	"github.com/umpirehq/umpire/internal/console"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/server"
	"github.com/umpirehq/umpire/internal/trial"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// newConsoleCommand is `umpire console`.
func newConsoleCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "console", Args: app.RefuseWords,
		Short:   "Answer in a browser",
		Long:    consoleLong,
		Example: "  umpire console",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return untilInterrupted(cmd.Context(), followConsole(cmd.Context(), a))
		},
	}
}

// followConsole asks the gate to open its console, and shows the link and the codes only on the
// terminal of this process: anyone who has them can act for the person.
func followConsole(ctx context.Context, a *app.App) error {
	conf, err := a.LoadConfig(a.Dir)
	if err != nil {
		return err
	}
	gate, err := a.DialExpectedGate(ctx, conf, app.PersonCredential, "")
	if err != nil {
		return err
	}
	if gate == nil {
		return app.Refused("umpire serve", "no gate is running, and the console is a part of it")
	}
	defer gate.Close()
	if err := app.RefuseRunner(ctx, a, gate, "console"); err != nil {
		return err
	}
	tty, err := a.OpenTerminal()
	if err != nil {
		return app.Refused(a.Text.Of("run it in a terminal"), "the link is shown on a terminal only: %w", err)
	}
	defer tty.Close()
	return app.GateError(client.OpenConsole(ctx, gate, a.Text.Word("language tag", "en"), tty))
}

// newConsole returns the console of a gate in this process. Its open pages count as inboxes.
func newConsole(a *app.App, g *gate.Gate, log *slog.Logger, attend func() func()) *console.Console {
	local := server.Local(g, "console")
	in := func(text *catalogue.Language) *app.App {
		reader := *a
		reader.Text = text
		return &reader
	}
	return console.New(console.Config{
		Gate: local, Dir: a.Dir, NewCode: app.NewCode, Attend: attend, Log: log,
		Changes: func(text *catalogue.Language, p *umpire.Pending, s *umpire.Session) string {
			if tried := try.DescribeTrial(in(text), p); tried != "" {
				return tried
			}
			return app.PreviewCall(in(text), p, s).Diff
		},
		Undoable: func() (map[umpire.CallID][]console.Undoable, error) { return listUndoable(a) },
		Undo: func(ctx context.Context, text *catalogue.Language, id string) (string, error) {
			return try.UndoInGate(ctx, in(text), local, id)
		},
	})
}

// listUndoable lists the kept changes of calls that can be taken back.
func listUndoable(a *app.App) (map[umpire.CallID][]console.Undoable, error) {
	kept, err := trial.Undoable(a.StateDir(), "")
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
