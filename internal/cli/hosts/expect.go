package hosts

import (
	"fmt"
	"os"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/internal/view"
)

// Of 100 recorded calls of Claude Code without umpire's sandbox, so many ask. docs/autonomy.md has the table.
const (
	asksAtLow         = 54.7
	asksAtMedium      = 3.5
	asksWithoutTrials = 31.0 // at medium, where a call that would be tried first asks
)

// showExpected shows the expected number of questions on this machine, and the command that lowers it.
func (s *setupJob) showExpected() {
	able := sandbox.Available()
	if able.Whole() {
		fmt.Fprintf(s.Stdout, s.Text.Of("Questions to expect in 100 calls: about %.0f at low, %.0f at medium "+
			"(without trials it would be %.0f)")+"\n", asksAtLow, asksAtMedium, asksWithoutTrials)
		return
	}
	fmt.Fprintf(s.Stdout, s.Text.Of("Questions to expect in 100 calls: about %.0f at low, %.0f at medium "+
		"(with trials it would be %.0f)")+"\n", asksAtLow, asksWithoutTrials, asksAtMedium)
	fmt.Fprintf(s.Stdout, "  "+s.Text.Of("This machine cannot try commands first: %s")+"\n", view.Visible(able.Lacks))
	if allow := app.AllowTrials(os.DirFS("/")); allow != "" {
		fmt.Fprintf(s.Stdout, "  "+s.Text.Of("To allow it: %s")+"\n", allow)
	}
}
