package main

import "github.com/spf13/cobra"

// root is the command tree.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use: "umpire", Short: a.text.of("Decides every tool call of an AI coding agent: allow, ask or deny"),
		SilenceErrors: true, SilenceUsage: true,
	}
	root.AddCommand(a.checkCommand(), a.hookCommand())
	return root
}
