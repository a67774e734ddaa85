package hosts

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/hold/process"
	"github.com/umpirehq/umpire/internal/host/editor"
	"github.com/umpirehq/umpire/internal/host/jsonrpc"
)

const acpLong = `Stands between an editor and a coding agent that speak the Agent Client Protocol
(ACP), and decides what the agent may do. In the editor's settings, put
"umpire proxy acp --" before the command of the agent:

  gemini --acp      becomes   umpire proxy acp -- gemini --acp

umpire answers the agent's questions if it knows that the call is safe, or denies it.
Other questions go to the editor's own dialog, or to umpire's inbox if someone has it
open (see the key hook.when_asked). umpire decides in the same way when the agent has
the editor read or write a file or run a command. It passes on everything else
unchanged. When either of the two ends, umpire ends the other.

An agent that never asks runs its own tools without umpire: set it up to ask.

With --chain it is one proxy in a chain led by agent-client-protocol-conductor, and
starts no agent.`

const acpExample = `  umpire proxy acp -- gemini --acp
  umpire proxy acp -- opencode acp
  agent-client-protocol-conductor agent "umpire proxy acp --chain" "gemini --acp"`

// newACPCommand is `umpire proxy acp`.
func newACPCommand(a *app.App) *cobra.Command {
	var chain bool
	cmd := &cobra.Command{
		Use: "acp -- AGENT...", Args: cobra.ArbitraryArgs,
		Short: "Decide for an agent that an editor runs (ACP)", Long: acpLong, Example: acpExample,
		RunE: func(cmd *cobra.Command, words []string) error {
			if chain == (len(words) > 0) {
				return app.Usage(cmd.CommandPath()+" --help", "want either the command of an AGENT or --chain")
			}
			return runACP(cmd.Context(), a, words)
		},
	}
	cmd.Flags().BoolVar(&chain, "chain", false, "run as one proxy in a chain that a conductor starts")
	cmd.Flags().SetInterspersed(false)
	return cmd
}

// runACP forwards messages until the editor or the agent ends.
func runACP(ctx context.Context, a *app.App, words []string) error {
	j := newJudge(a, "acp")
	defer j.close()
	p := editor.ACPProxy{Judge: j, Report: a.RemarkError}
	outer := jsonrpc.NewPeer(a.Stdin, a.Stdout)
	if len(words) == 0 {
		j.runner = process.Host(os.Getppid()) // the conductor, which starts the agent as well
		p.Editor, p.Agent = editor.NewLink(outer)
		return describeEnd(p.Run(ctx), nil)
	}
	agent, err := startChild(a, words)
	if err != nil {
		return err
	}
	defer agent.stop()
	j.runner = process.NameOf(os.Getpid()) // the agent descends from it
	p.Editor, p.Agent = outer, agent.peer
	p.HangUp = agent.hangUp
	return describeEnd(p.Run(ctx), agent)
}

// describeEnd returns the error with which a proxy ended. If a started program ended, that
// is the program's exit status.
func describeEnd(err error, child *child) error {
	if !errors.Is(err, io.EOF) || child == nil {
		if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
			return nil
		}
		return app.Failed(err)
	}
	if ended := child.awaitEnd(); ended != nil {
		return app.Failed(umpire.Errorf("%s has ended: %w", child.program, ended))
	}
	return nil
}
