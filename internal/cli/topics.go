package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// exitCodes is the table of all exit codes.
var exitCodes = [...]struct {
	code  int
	means string
}{
	{app.ExitDone, "done, or the call is allowed"},
	{app.ExitError, "something went wrong"},
	{app.ExitDenied, "the call is denied"},
	{app.ExitAsks, "the call asks, or got no answer before the deadline"},
	{app.ExitUsage, "wrong usage or broken configuration"},
	{app.ExitGate, "the gate cannot be reached"},
	{app.ExitRefused, "refused: it needs a person, is not trusted, or is already resolved"},
	{app.ExitWidens, "a change permits more than before (replay --fail-on-widen)"},
}

// newTopics are pages of help that belong to no command: `umpire help TOPIC`.
// Without a Run, cobra lists them as topics.
func newTopics(a *app.App) []*cobra.Command {
	return []*cobra.Command{
		{Use: "exit-codes", Short: "Meaning of the exit codes", Long: formatExitCodes(a.Text)},
		{Use: "modes", Short: "Decisions where no rule applies", Long: modesTopic},
		{Use: "order", Short: "How a call is decided, row by row", Long: orderTopic},
	}
}

func formatExitCodes(text *catalogue.Language) string {
	var b strings.Builder
	b.WriteString(text.Of("Every command ends with one of these codes:") + "\n\n")
	for _, e := range exitCodes {
		fmt.Fprintf(&b, "  %d  %s\n", e.code, text.Of(e.means))
	}
	b.WriteString("\n" +
		text.Of("umpire check --stdin ends with 0 when all lines were read; each line has its own verdict."))
	return b.String()
}
