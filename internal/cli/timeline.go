package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A timelineCommand is `umpire timeline` with its flags: which events are shown, and how.
type timelineCommand struct {
	*app.App

	json, follow, all, detail, events bool
	session                           string
	after                             int64
	last                              int
}

// newTimelineCommand is `umpire timeline`.
func newTimelineCommand(a *app.App) *cobra.Command {
	c := timelineCommand{App: a}
	cmd := &cobra.Command{
		Use: "timeline", Args: app.RefuseUnknownCommand,
		Short: "Show what was asked, decided and run",
		Long:  timelineLong,
		Example: "  umpire timeline --last 20\n  umpire timeline --events --session s4k7m --follow\n" +
			"  umpire timeline --json --after 1200",
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := c.showTimeline(cmd.Context())
			if c.follow {
				return untilInterrupted(cmd.Context(), err)
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&c.json, "json", false, "write each event as one line of JSON")
	flags.BoolVar(&c.events, "events", false, "show every event, not one line for each call")
	flags.BoolVar(&c.detail, "detail", false, "show every field of each event on its own line")
	flags.BoolVar(&c.follow, "follow", false, "show events, and then new ones as they happen")
	app.AddAllProjects(flags, &c.all)
	flags.StringVar(&c.session, "session", "", "only the session `ID`")
	flags.Int64Var(&c.after, "after", 0, "only events after the number `SEQ`")
	flags.IntVar(&c.last, "last", 0, "only the last `N` calls or events")
	cmd.AddCommand(newTimelineVerifyCommand(a), newTimelineHeadCommand(a), newTimelinePruneCommand(a))
	app.CompleteWith(cmd, "session", completeSessions(a))
	return cmd
}

// showTimeline shows the events that the flags choose.
func (c *timelineCommand) showTimeline(ctx context.Context) error {
	if c.after < 0 {
		return app.Usage("umpire timeline --help", "--after %d: want 0 or more", c.after)
	}
	if c.last < 0 {
		return app.Usage("umpire timeline --help", "--last %d: want 0 or more", c.last)
	}
	return c.WithGate(ctx, app.PersonCredential, func(gate umpire.Gate) error { return c.showEvents(ctx, gate) })
}

func (c *timelineCommand) showEvents(ctx context.Context, gate umpire.Gate) error {
	events, filter, in, err := c.view(ctx, gate)
	if err != nil {
		return err
	}
	show := newEventShower(c.App, c.json, c.detail)
	if c.follow && c.last == 0 {
		return followEvents(ctx, events, filter, show)
	}
	byCall := !c.events && !c.json && !c.detail && !c.follow && c.after == 0
	if !byCall {
		filter.Last = c.last
	}
	list, err := events.Events(ctx, filter)
	if err != nil {
		return err
	}
	if lines := groupCalls(list); byCall && len(lines) > 0 {
		return showCalls(ctx, c.App, gate, in, lines, c.last)
	}
	for i := range list {
		if err := show(&list[i]); err != nil {
			return app.Failed(err)
		}
	}
	if c.follow {
		filter.Last, filter.After = 0, max(c.after, umpire.LastSeq(list))
		return followEvents(ctx, events, filter, show)
	}
	if len(list) == 0 && !c.json {
		_, err := fmt.Fprintln(c.Stdout, c.Text.Of("nothing has happened yet"))
		return app.Failed(err)
	}
	return nil
}

// showRecord shows a whole timeline, and verifies that it was not changed.
func showRecord(ctx context.Context, a *app.App) error {
	c := timelineCommand{App: a}
	if err := c.showTimeline(ctx); err != nil {
		return err
	}
	return verifyTimeline(ctx, a, &verifyFlags{})
}

// view returns the events that the flags choose, those of this project by default, and the folders that shorten
// their paths.
func (c *timelineCommand) view(
	ctx context.Context, gate umpire.Gate,
) (umpire.Watcher, umpire.Filter, view.Folders, error) {
	filter, in := umpire.Filter{After: c.after}, view.Folders{Home: c.UserHome()}
	if c.session == "" {
		here, err := app.ViewProject(ctx, c.App, gate, app.PersonCredential, c.all)
		if err != nil {
			return nil, filter, in, err
		}
		return here, filter, here.Folders(c.UserHome()), nil
	}
	var err error
	filter.Session, err = findSession(ctx, c.App, gate, c.session)
	if err != nil && c.all { // the events of a deleted session stay
		filter.Session, err = umpire.SessionID(c.session), nil
	}
	if s, found := gate.Sessions().Get(ctx, filter.Session); found == nil {
		in.Root = s.Root
	}
	return gate, filter, in, err
}

// untilInterrupted returns the error of a command that runs until it is interrupted. An interrupt is a
// normal end, at any moment.
func untilInterrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // see above
	}
	return err
}

// followEvents shows events as they come.
func followEvents(
	ctx context.Context, events umpire.Watcher, filter umpire.Filter, show func(*umpire.Event) error,
) error {
	for e, err := range events.Watch(ctx, filter) {
		if err != nil {
			return app.GateError(err)
		}
		if err := show(&e); err != nil {
			return app.Failed(err)
		}
	}
	return nil
}

// newEventShower writes events as lines of JSON or as text, with every field if wanted.
func newEventShower(a *app.App, asJSON, detail bool) func(*umpire.Event) error {
	if asJSON {
		return func(e *umpire.Event) error { return app.WriteLine(a.Stdout, e) }
	}
	return func(e *umpire.Event) error {
		lines := []string{formatEvent(a, e)}
		if detail {
			for _, line := range view.EventDetail(e, a.Text) {
				lines = append(lines, "        "+line)
			}
		}
		_, err := fmt.Fprintln(a.Stdout, strings.Join(lines, "\n"))
		return err
	}
}

// formatEvent is an event as a person reads it.
func formatEvent(a *app.App, e *umpire.Event) string {
	parts := []string{fmt.Sprintf("%6d  %s  %s", e.Seq, e.At.Local().Format(timeLayout), formatEventKind(a, e))}
	for _, part := range []string{string(e.Session), string(e.Request), e.Tool} {
		if part != "" {
			parts = append(parts, clipID(part))
		}
	}
	if e.Risk != "" {
		parts = append(parts, a.Text.Word("of risk", e.Risk))
	}
	if outcome := view.Outcome(e, a.Text); outcome != "" {
		parts = append(parts, outcome)
	}
	if e.Actor != "" {
		parts = append(parts, fmt.Sprintf(a.Text.Of("by %s"), view.Visible(e.Actor)))
	}
	if about := eventSubject(a.Text, e); about != "" {
		parts = append(parts, app.Clip(view.Visible(about)))
	}
	if e.Reason != "" {
		parts = append(parts, "- "+app.Clip(view.Visible(a.Text.Reason(e.Reason))))
	}
	return strings.Join(parts, "  ")
}

// kindColours highlight the kinds that a person looks for.
var kindColours = map[umpire.EventKind]string{
	umpire.EventPermissionAsked:          view.VerdictColour(umpire.Ask),
	umpire.EventPermissionApproved:       view.VerdictColour(umpire.Allow),
	umpire.EventPermissionRejected:       view.VerdictColour(umpire.Deny),
	umpire.EventPermissionBypassedByRule: view.VerdictColour(umpire.Allow),
	umpire.EventCallIndeterminate:        view.VerdictColour(umpire.Deny),
	umpire.EventCallRanUnasked:           view.VerdictColour(umpire.Deny),
	umpire.EventCallRanRefused:           view.VerdictColour(umpire.Deny),
	umpire.EventEffectsConflicted:        view.VerdictColour(umpire.Deny),
	umpire.EventRulesDegraded:            view.VerdictColour(umpire.Deny),
}

func formatEventKind(a *app.App, e *umpire.Event) string {
	kind := fmt.Sprintf("%-24s", view.Visible(string(e.Kind)))
	if colour := kindColours[e.Kind]; colour != "" && a.Colour() {
		return colour + kind + "\x1b[0m"
	}
	return kind
}

// eventSubject describes an event by its accesses.
func eventSubject(text *catalogue.Language, e *umpire.Event) string {
	var about []string
	for i := range e.Accesses {
		about = append(about, view.AccessText(&e.Accesses[i], text))
	}
	return strings.Join(about, "; ")
}
