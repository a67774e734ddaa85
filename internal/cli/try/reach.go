package try

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/cli/rules"
	"github.com/umpirehq/umpire/internal/hold/egress"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/policy"
)

// A prompter asks the person at the terminal about the destinations of a command while it runs. It asks one question
// at a time.
type prompter struct {
	*app.App

	command string
	tty     *os.File
	lines   *app.Lines

	mu sync.Mutex
}

// askAbout asks whether the command may connect to a destination, as [egress.Proxy.Ask] does.
func (p *prompter) askAbout(ctx context.Context, d egress.Destination, why egress.Reason) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked := p.Text.Of("%s wants to connect to %s: %s. You cannot undo what it sends.")
	wants := fmt.Sprintf(asked, view.Visible(app.Clip(p.command)), view.Visible(d.String()),
		view.Visible(p.Text.Reason(why.Say(d))))
	menu := p.Text.Of("[y] this time  [p] in this project  [g] everywhere  [n] no  > ")
	if _, err := fmt.Fprintf(p.tty, "\n%s\n", wants); err != nil {
		return false
	}
	if err := app.DropEarlyKeys(ctx, p.tty); err != nil {
		return false
	}
	for {
		if _, err := io.WriteString(p.tty, menu); err != nil {
			return false
		}
		said, err := p.lines.Next(ctx)
		if err != nil {
			return false
		}
		var scope string
		switch strings.ToLower(strings.TrimSpace(said)) {
		case "y", "yes":
			return true
		case "n", "no":
			return false
		case "p":
			scope = "project"
		case "g":
			scope = "global"
		default:
			continue
		}
		with := *p.App
		with.Stdout = p.tty
		rule := umpire.Rule{
			Action: umpire.Allow, Tool: policy.ConnectTool, Match: umpire.Match{Domain: d.Host},
		}
		if err := rules.Add(ctx, &with, scope, rule); err != nil {
			p.RemarkError(err) // the answer holds for this command all the same
		}
		return true
	}
}
