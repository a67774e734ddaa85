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

// A timelineFlags is which events are shown, and how.
type timelineFlags struct {
	json, follow, all, detail, events bool
	session                           string
	after                             int64
	last                              int
}

// newTimelineCommand is `umpire timeline`.
func newTimelineCommand(a *app.App) *cobra.Command {
	var f timelineFlags
	cmd := &cobra.Command{
		Use: "timeline", Args: app.RefuseUnknownCommand,
		Short: "Show what was asked, decided and run",
		Long:  timelineLong,
		Example: "  umpire timeline --last 20\n  umpire timeline --events --session s4k7m --follow\n" +
			"  umpire timeline --json --after 1200",
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := showTimeline(cmd.Context(), a, &f)
			if f.follow {
				return untilInterrupted(cmd.Context(), err)
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.json, "json", false, "write each event as one line of JSON")
	flags.BoolVar(&f.events, "events", false, "show every event, not one line for each call")
	flags.BoolVar(&f.detail, "detail", false, "show every field of each event on its own line")
	flags.BoolVar(&f.follow, "follow", false, "show events, and then new ones as they happen")
	app.AddAllProjects(flags, &f.all)
	flags.StringVar(&f.session, "session", "", "only the session `ID`")
	flags.Int64Var(&f.after, "after", 0, "only events after the number `SEQ`")
	flags.IntVar(&f.last, "last", 0, "only the last `N` calls or events")
	cmd.AddCommand(newTimelineVerifyCommand(a), newTimelineHeadCommand(a), newTimelinePruneCommand(a))
	app.CompleteWith(cmd, "session", completeSessions(a))
	return cmd
}

// showTimeline shows the events that the flags choose.
func showTimeline(ctx context.Context, a *app.App, f *timelineFlags) error {
	if f.after < 0 {
		return app.Usage("umpire timeline --help", "--after %d: want 0 or more", f.after)
	}
	if f.last < 0 {
		return app.Usage("umpire timeline --help", "--last %d: want 0 or more", f.last)
	}
	return a.WithGate(ctx, app.PersonCredential, func(gate umpire.Gate) error { return showEvents(ctx, a, gate, f) })
}

func showEvents(ctx context.Context, a *app.App, gate umpire.Gate, f *timelineFlags) error {
	events, filter, in, err := timelineView(ctx, a, gate, f)
	if err != nil {
		return err
	}
	show := newEventShower(a, f.json, f.detail)
	if f.follow && f.last == 0 {
		return followEvents(ctx, events, filter, show)
	}
	byCall := !f.events && !f.json && !f.detail && !f.follow && f.after == 0
	if !byCall {
		filter.Last = f.last
	}
	list, err := events.Events(ctx, filter)
	if err != nil {
		return err
	}
	if lines := groupCalls(list); byCall && len(lines) > 0 {
		return showCalls(ctx, a, gate, in, lines, f.last)
	}
	for i := range list {
		if err := show(&list[i]); err != nil {
			return app.Failed(err)
		}
	}
	if f.follow {
		filter.Last, filter.After = 0, max(f.after, umpire.LastSeq(list))
		return followEvents(ctx, events, filter, show)
	}
	if len(list) == 0 && !f.json {
		_, err := fmt.Fprintln(a.Stdout, a.Text.Of("nothing has happened yet"))
		return app.Failed(err)
	}
	return nil
}

// showRecord shows a whole timeline, and verifies that it was not changed.
func showRecord(ctx context.Context, a *app.App) error {
	if err := showTimeline(ctx, a, &timelineFlags{}); err != nil {
		return err
	}
	return verifyTimeline(ctx, a, &verifyFlags{})
}

// timelineView returns the events that the flags choose, those of this project by default, and the folders that shorten
// their paths.
func timelineView(
	ctx context.Context, a *app.App, gate umpire.Gate, f *timelineFlags,
) (umpire.Watcher, umpire.Filter, view.Folders, error) {
	filter, in := umpire.Filter{After: f.after}, view.Folders{Home: a.UserHome()}
	if f.session == "" {
		here, err := app.ViewProject(ctx, a, gate, app.PersonCredential, f.all)
		if err != nil {
			return nil, filter, in, err
		}
		return here, filter, here.Folders(a.UserHome()), nil
	}
	var err error
	filter.Session, err = findSession(ctx, a, gate, f.session)
	if err != nil && f.all { // the events of a deleted session stay
		filter.Session, err = umpire.SessionID(f.session), nil
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
