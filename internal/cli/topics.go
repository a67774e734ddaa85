package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// exitCodes is the one table of exit codes.
var exitCodes = [...]struct {
	code  int
	means string
}{
	{exitDone, "done, or the call is allowed"},
	{exitError, "something went wrong"},
	{exitDenied, "the call is denied"},
	{exitAsks, "the call asks a person, or nobody answered in time"},
	{exitUsage, "wrong usage or broken configuration"},
	{exitGate, "the gate cannot be reached"},
	{exitRefused, "the state of things refuses it: needs a person, not trusted, resolved already"},
}

// newTopics are pages of help that belong to no command: `umpire help TOPIC`.
// Without a Run, cobra lists them as topics.
func newTopics(a *App) []*cobra.Command {
	return []*cobra.Command{
		{Use: "exit-codes", Short: "What the exit codes mean", Long: formatExitCodes(a)},
		{Use: "modes", Short: "What happens where no rule speaks", Long: modesTopic},
		{Use: "order", Short: "How a call is decided, row by row", Long: orderTopic},
	}
}

func formatExitCodes(a *App) string {
	var b strings.Builder
	b.WriteString(a.text.Of("Every command ends with one of these codes:") + "\n\n")
	for _, e := range exitCodes {
		fmt.Fprintf(&b, "  %d  %s\n", e.code, a.text.Of(e.means))
	}
	b.WriteString("\n" + a.text.Of("umpire check --stdin ends with 0 when all lines were read; each line has its own verdict."))
	return b.String()
}
