package run

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/hold/egress"
	"github.com/umpirehq/umpire/internal/view"
)

// A prompter asks the person at the terminal about the destinations of a command while it runs.
type prompter struct {
	*app.App

	command string
	tty     *os.File
	lines   *app.Lines
}

// askAbout asks whether the command may connect to a destination, as [egress.Proxy.Ask] does.
func (p *prompter) askAbout(ctx context.Context, d egress.Destination, why egress.Reason) bool {
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
		if err := p.allow(ctx, scope, d); err != nil {
			p.RemarkError(err) // the answer holds for this command all the same
		}
		return true
	}
}

// allow adds a rule for connections to the destination's host to the file of a scope.
func (p *prompter) allow(ctx context.Context, scope string, d egress.Destination) error {
	project, err := p.OpenProject()
	if err != nil {
		return err
	}
	layer, err := project.Layer(scope)
	if err != nil {
		return err
	}
	rule := umpire.Rule{Action: umpire.Allow, Tool: umpire.ConnectTool, Match: umpire.Match{Domain: d.Host}}
	return p.WithGate(ctx, app.PersonCredential, func(gate umpire.Gate) error {
		id, err := gate.Rules().Add(ctx, p.Dir, app.ScopeOf(layer), rule, umpire.Actor{})
		if err == nil {
			fmt.Fprintf(p.tty, p.Text.Of("added %s to %s\n"), view.Visible(string(id)), view.Visible(layer.Path))
		}
		return err
	})
}
