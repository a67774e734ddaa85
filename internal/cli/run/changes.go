package run

import (
	"context"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/tool"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/internal/view/fold"
)

// Changes holds the changes that a call made in a trial, or would make in files, as its card shows them.
type Changes struct {
	Diff  string
	Shown []string // input fields that the diff shows completely
	Cut   bool     // part of a trial is not shown
}

// maxCardDiff limits the shown changes of one file in a trial on a card, in bytes.
const maxCardDiff = 2 << 20

// ChangesOf describes the changes of a call that waits.
func ChangesOf(ctx context.Context, a *app.App, g umpire.Gate, p *umpire.Pending, s *umpire.Session) Changes {
	if p.Trial != nil && p.Trial.State == umpire.TrialWaiting {
		text := describeTrial(a, p, maxCardDiff)
		return Changes{Diff: text, Cut: !tool.Whole(text)}
	}
	seen := app.PreviewCall(ctx, a, g, p, s)
	return Changes{Diff: seen.Diff, Shown: seen.Shown}
}

// Text returns the changes as a card shows them, with lock files and runs of equal lines folded, or "" if there are
// no changes.
func (c *Changes) Text(lang *catalogue.Language) string {
	if c.Diff == "" {
		return ""
	}
	lines := strings.Split(strings.TrimSuffix(app.VisibleDiff(c.Diff), "\n"), "\n")
	var text strings.Builder
	text.WriteString(lang.Of("It would change:") + "\n")
	for _, f := range fold.Diff(lines, lang) {
		text.WriteString(f.Text + "\n")
	}
	return text.String() + "\n"
}

// LeftOut names the parts of a call that neither its card nor its changes show in full, or returns "".
func (c *Changes) LeftOut(text *catalogue.Language, card *view.Card) string {
	parts := view.LeftOut(card, c.Shown...)
	if c.Cut {
		parts = append(parts, text.Of("diff"))
	}
	if len(parts) == 0 {
		return ""
	}
	return view.Joined(text.Of("Not shown in full"), ": ", view.List(parts, ", "))
}
