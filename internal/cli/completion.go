package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire/internal/cli/app"
)

// A shellScript is the completion script for one shell.
type shellScript struct {
	shell, install string
	write          func(root *cobra.Command, to io.Writer) error
}

// shellScripts are the shells that umpire completes in.
var shellScripts = []shellScript{
	{
		"bash", "umpire completion bash > ~/.local/share/bash-completion/completions/umpire",
		func(root *cobra.Command, to io.Writer) error { return root.GenBashCompletionV2(to, true) },
	},
	{"zsh", `umpire completion zsh > "${fpath[1]}/_umpire"`, (*cobra.Command).GenZshCompletion},
	{
		"fish", "umpire completion fish > ~/.config/fish/completions/umpire.fish",
		func(root *cobra.Command, to io.Writer) error { return root.GenFishCompletion(to, true) },
	},
	{"powershell", "umpire completion powershell >> $PROFILE", (*cobra.Command).GenPowerShellCompletionWithDesc},
}

const completionLong = `Writes a script that makes your shell complete commands, flags, rules and the ids of
waiting calls. Save it where your shell looks for completions, and start a new shell:`

// newCompletionCommand is `umpire completion`.
func newCompletionCommand(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "completion SHELL",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return app.Usage("umpire completion --help", "no completion for %q: want bash, zsh, fish or powershell",
				args[0])
		},
		Short: "Write the completion script of a shell",
		Long:  completionLong,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, s := range shellScripts {
		cmd.Example += "  " + s.install + "\n"
		cmd.AddCommand(&cobra.Command{
			Use: s.shell, Args: app.RefuseWords,
			Short:   "Write the completion script of a shell",
			Long:    completionLong,
			Example: "  " + s.install,
			RunE:    func(cmd *cobra.Command, _ []string) error { return app.Failed(s.write(cmd.Root(), a.Stdout)) },
		})
	}
	return cmd
}
