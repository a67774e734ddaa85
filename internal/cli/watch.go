package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/tui"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/cli/rules"
	"github.com/umpirehq/umpire/internal/cli/run"
	"github.com/umpirehq/umpire/internal/view"
)

// newWatchCommand is `umpire watch`.
func newWatchCommand(a *app.App) *cobra.Command {
	c := watchCommand{App: a}
	cmd := &cobra.Command{
		Use: "watch", Args: app.RefuseWords,
		Short:   "Watch questions and events as they come",
		Long:    watchLong,
		Example: "  umpire watch\n  umpire watch --notify --this-project\n  umpire watch --all-projects --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return untilInterrupted(cmd.Context(), c.watchGate(cmd.Context()))
		},
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "write each event as one line of JSON")
	app.AddAllProjects(cmd.Flags(), &c.all)
	cmd.Flags().BoolVar(&c.project, "this-project", false, "on a terminal, show only this project")
	cmd.Flags().BoolVar(&c.plain, "plain", false, "write plain lines even on a terminal, and answer nothing")
	cmd.Flags().BoolVar(&c.notify, "notify", false, "also show desktop notifications for new questions")
	return cmd
}

// A watchCommand is `umpire watch` with its flags.
type watchCommand struct {
	*app.App
	listFlags

	plain, notify, project bool
}

// interactive reports whether a person sits there and may answer. A process that an agent
// started only shows.
func (c *watchCommand) interactive(ctx context.Context, gate umpire.Gate) bool {
	return !c.json && !c.plain && c.Terminal && !c.IsPoorTerminal() &&
		c.NeedPerson("umpire watch") == nil && app.RefuseRunner(ctx, c.App, gate, "watch") == nil
}

// showInbox shows the questions of all projects, and has them answered.
func (c *watchCommand) showInbox(ctx context.Context, gate umpire.Gate, serving bool) error {
	settings, err := c.LoadConfig(c.Dir)
	if err != nil {
		return err
	}
	conf := tui.Config{
		Gate: gate, Home: c.UserHome(), Text: c.Text, Now: c.Now, Code: answerCode,
		Change: run.DescribeChange(c.App, gate),
		In:     c.Stdin, Out: app.TerminalOut(c.Stdout), Env: os.Environ(), NoColour: c.Getenv("NO_COLOR") != "",
		Tasks: rules.Desks(c.App, gate), TaskCode: app.NewCode,
		Undo: run.NewUndoer(c.App, gate), Serving: serving, Silent: settings.WatchNotify == "off" && !c.notify,
	}
	if serving {
		where, err := c.ReadListenAddress(settings.Listen)
		if err != nil {
			return err
		}
		conf.Address, conf.Since = where.Name, where.Since
	}
	if c.project {
		if conf.Session.Project, err = c.ChooseProject(false); err != nil {
			return err
		}
	}
	if c.notify || settings.WatchNotify == "desktop" {
		conf.Notify = notifyEscape(c.Getenv)
	}
	return app.Failed(tui.NewInbox(conf).Run(ctx))
}

// answerCode is the code that an approval needs in the inbox: for the same as umpire approve.
func answerCode(answer *umpire.Answer, p *umpire.Pending) string {
	if view.NeedsCode(answer, p) {
		return app.NewCode()
	}
	return ""
}

// The escapes with which terminals notify a desktop, with a place for the text.
const (
	notifyOSC9   = "\x1b]9;%s\x1b\\"
	notifyOSC777 = "\x1b]777;notify;umpire;%s\x1b\\"
)

// notifyEscape returns the escape that the terminal understands, or "" for a terminal that is
// known to support no such escape. Other terminals ignore unknown escapes.
func notifyEscape(getenv func(string) string) string {
	term := getenv("TERM")
	switch {
	case getenv("TMUX") != "": // tmux forwards a wrapped escape if allow-passthrough is on
		return "\x1bPtmux;" + strings.ReplaceAll(notifyOSC9, "\x1b", "\x1b\x1b") + "\x1b\\"
	case strings.HasPrefix(term, "foot"), strings.HasPrefix(term, "rxvt"), getenv("VTE_VERSION") != "":
		return notifyOSC777
	case term == "linux", strings.HasPrefix(term, "screen"):
		return ""
	}
	return notifyOSC9
}

// watchGate shows the open questions and then the events.
func (c *watchCommand) watchGate(ctx context.Context) error {
	gate, runs, done, err := c.ReachGate(ctx, app.PersonCredential, "")
	if err != nil {
		return err
	}
	defer done()
	if !runs {
		c.Remark(c.Text.Of("questions of Claude Code do not appear here, because no gate is running: umpire serve " +
			"starts one"))
	}
	if c.interactive(ctx, gate) {
		return c.showInbox(ctx, gate, runs)
	}
	here, err := app.ViewProject(ctx, c.App, gate, app.PersonCredential, c.all)
	if err != nil {
		return app.GateError(err)
	}
	last, err := here.Events(ctx, umpire.Filter{Last: 1})
	if err != nil {
		return app.GateError(err)
	}
	filter := umpire.Filter{After: umpire.LastSeq(last)}
	c.Remark(fmt.Sprintf(c.Text.Of("watching from event %d on"), filter.After))
	if c.json {
		return followEvents(ctx, here, filter, newEventShower(c.App, true, false))
	}
	screen := &waiting{App: c.App, view: here, all: c.all, live: c.ToTerminal, width: c.Columns()}
	if err := screen.refresh(ctx); err != nil {
		return err
	}
	return followEvents(ctx, here, filter, func(e *umpire.Event) error { return screen.event(ctx, e) })
}

// A waiting screen shows the open questions below the events. On a terminal the list
// stays at the bottom and is redrawn; otherwise it is written when it changes.
type waiting struct {
	*app.App

	view  *app.ProjectView
	all   bool
	live  bool
	width int
	drawn int      // number of lines of the list on the terminal
	lines []string // of the list
}

// event shows one event, and the list when the event may have changed it.
func (w *waiting) event(ctx context.Context, e *umpire.Event) error {
	var text strings.Builder
	w.erase(&text)
	fmt.Fprintln(&text, formatEvent(w.App, e))
	if _, err := io.WriteString(w.Stdout, text.String()); err != nil {
		return err
	}
	if view.ChangesPending(e.Kind) {
		return w.refresh(ctx)
	}
	return w.draw()
}

// refresh reads the list again and shows it if it has changed.
func (w *waiting) refresh(ctx context.Context) error {
	list, err := w.view.Pending(ctx, 0)
	if err != nil {
		return app.GateError(err)
	}
	var lines []string
	for i := range list {
		cells := pendingCells(w.Now(), &list[i], w.all)
		lines = append(lines, "  "+strings.Join(cells, "  "))
	}
	if len(list) > 0 {
		head := w.Text.Count(len(list), "%d waits for an answer: umpire approve ID, umpire deny ID",
			"%d wait for an answer: umpire approve ID, umpire deny ID")
		lines = append([]string{head}, lines...)
	}
	if !w.live && slices.Equal(lines, w.lines) {
		return nil
	}
	w.lines = lines
	return w.draw()
}

// draw writes the list.
func (w *waiting) draw() error {
	var text strings.Builder
	w.erase(&text)
	for _, line := range w.lines {
		if w.live {
			line = cutColumns(line, w.width-1)
		}
		fmt.Fprintln(&text, line)
	}
	if w.live {
		w.drawn = len(w.lines)
	}
	_, err := io.WriteString(w.Stdout, text.String())
	return err
}

// erase takes the list off the terminal again.
func (w *waiting) erase(to io.Writer) {
	if w.drawn > 0 {
		fmt.Fprintf(to, "\x1b[%dF\x1b[J", w.drawn)
	}
	w.drawn = 0
}

// cutColumns cuts a line to a width, to keep it on one line.
func cutColumns(line string, width int) string {
	for i := range line {
		if view.Columns(line[:i]) >= width-1 && view.Columns(line) > width {
			return line[:i] + "…"
		}
	}
	return line
}
