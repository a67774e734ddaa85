package hosts

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/hold/process"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/editor"
	"github.com/umpirehq/umpire/internal/host/jsonrpc"
)

const appServerLong = `Stands between an editor and Codex, which editors drive through "codex app-server",
and decides what Codex asks about. In the editor's settings, put "umpire proxy codex --"
before the command of Codex:

  codex app-server      becomes   umpire proxy codex -- codex app-server

umpire answers Codex's questions if it knows that the call is safe, or denies it. Other
questions go to the editor's own dialog, or to umpire's inbox if someone has it open (see
the key hook.when_asked). umpire never accepts anything for a whole session. It refuses a
program that waits for input outside Codex's sandbox, because it cannot see the input, and
any kind of request that it does not know. It passes on everything else unchanged.

umpire sees only calls that Codex asks about. Codex's sandbox alone holds the others, unless
"umpire setup codex" has added its hooks as well. With the approval policy "never" Codex
asks about nothing.`

// newCodexCommand is `umpire proxy codex`.
func newCodexCommand(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "codex -- CODEX...", Args: cobra.ArbitraryArgs,
		Short: "Decide for Codex in an editor (codex app-server)", Long: appServerLong,
		Example: "  umpire proxy codex -- codex app-server",
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words) == 0 {
				return app.Usage(cmd.CommandPath()+" --help", "want the command of CODEX")
			}
			return runAppServer(cmd.Context(), a, words)
		},
	}
	cmd.Flags().SetInterspersed(false)
	return cmd
}

// runAppServer forwards messages until the editor or Codex ends.
func runAppServer(ctx context.Context, a *app.App, words []string) error {
	j := newJudge(a, host.CodexAppServer)
	defer j.close()
	j.runner = process.NameOf(os.Getpid()) // Codex descends from it
	codex, err := startChild(a, words)
	if err != nil {
		return err
	}
	defer codex.stop()
	p := editor.CodexProxy{
		Editor: jsonrpc.NewPeer(a.Stdin, a.Stdout), Codex: codex.peer, Judge: j, HangUp: codex.hangUp,
		Report: a.RemarkError,
	}
	return describeEnd(p.Run(ctx), codex)
}
