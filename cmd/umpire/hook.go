package main

import "github.com/spf13/cobra"

// hookCommand is `umpire hook`.
func (a *app) hookCommand() *cobra.Command {
	return &cobra.Command{Use: "hook", Short: a.text.of("Answer another agent's permission question")}
}
