package rules

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/gate/history"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

const statsLong = `Counts the calls of this project and the questions about them: the questions per 100
calls by agent, project, cause and day, the time to an answer, the answers within 2
seconds, and the approved calls that were undone later. --all-projects counts
those of every project. --week sums up the last seven days, beside the seven before.

Time to an answer runs from the question to the answer, so it includes the time
you were away. Calls that a trial settled count as tried, not as questions.`

type statsFlags struct {
	json, all, week bool
	since           string
}

// NewStatsCommand is `umpire stats`.
func NewStatsCommand(a *app.App) *cobra.Command {
	var f statsFlags
	cmd := &cobra.Command{
		Use: "stats", Args: app.RefuseUnknownCommand,
		Short: "Count the questions, and how they were answered", Long: statsLong,
		Example: "  umpire stats --since 7d\n  umpire stats --week\n  umpire stats --all-projects --json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return runStats(cmd.Context(), a, &f) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.json, "json", false, "write JSON")
	flags.StringVar(&f.since, "since", "", "only since `TIME`: 10m, 7d, 14:30 or RFC 3339")
	flags.BoolVar(&f.week, "week", false, "the last seven days, beside the seven before")
	app.AddAllProjects(flags, &f.all)
	return cmd
}

// week is the time that --week sums up.
const week = 7 * 24 * time.Hour

// A statistic is the result of `umpire stats`.
type statistic struct {
	From time.Time `json:"from,omitzero"` // of the first call that counts
	history.Summary
	// Before counts the week before, for --week; nil if nothing was recorded then.
	Before *history.Count `json:"week_before,omitempty"`
	roots  map[umpire.ProjectID]string
}

func runStats(ctx context.Context, a *app.App, f *statsFlags) error {
	since, err := readSince(a.Now(), f.since, "umpire stats --help")
	if err != nil {
		return err
	}
	if f.week {
		if f.since != "" {
			return app.Usage("umpire stats --help", "--week and --since cannot be combined")
		}
		since = a.Now().Add(-week)
	}
	return a.WithGate(ctx, app.PersonCredential, func(gate umpire.Gate) error {
		s, err := countCalls(ctx, a, gate, f.all, since, time.Time{})
		if err != nil {
			return err
		}
		if f.week {
			before, err := countCalls(ctx, a, gate, f.all, since.Add(-week), since)
			if err != nil {
				return err
			}
			if before.Calls > 0 {
				s.Before = &before.Count
			}
		}
		return a.Show(f.json, s, func() error {
			if s.Calls == 0 {
				return tellNoCalls(a.Stdout, a.Text, since)
			}
			return s.tell(a)
		})
	})
}

// countCalls counts the calls between two times; a zero end is now.
func countCalls(
	ctx context.Context, a *app.App, gate umpire.Gate, all bool, since, until time.Time,
) (*statistic, error) {
	here, err := app.ViewProject(ctx, a, gate, app.PersonCredential, all)
	if err != nil {
		return nil, err
	}
	undone, err := app.FindUndone(a.StateDir())
	if err != nil {
		return nil, err
	}
	s := statistic{roots: map[umpire.ProjectID]string{}}
	tally := history.Tally{Undone: func(n history.Name) bool { return undone[n] }, In: a.Now().Location()}
	for e, err := range here.Since(ctx, since) {
		if err != nil {
			return nil, err
		}
		if !until.IsZero() && !e.At.Before(until) {
			break
		}
		if e.Call != "" && (s.From.IsZero() || e.At.Before(s.From)) {
			s.From = e.At
		}
		tally.Add(&e)
	}
	s.Summary = tally.Summary()
	sessions, err := here.Sessions(ctx, 0)
	for i := range sessions {
		id := sessions[i].Project
		s.roots[id] = cmp.Or(s.roots[id], sessions[i].Root)
	}
	return &s, err
}

func (s *statistic) tell(a *app.App) error {
	say := func(format string, args ...any) { fmt.Fprintf(a.Stdout, a.Text.Of(format)+"\n", args...) }
	say("%s since %s: %.1f questions in 100 calls", a.Text.Count(s.Calls, "%d call", "%d calls"),
		s.From.Local().Format(time.DateTime), s.PerHundred())
	if s.Before != nil {
		say("the week before: %s, %.1f questions in 100 calls",
			a.Text.Count(s.Before.Calls, "%d call", "%d calls"), s.Before.PerHundred())
	}
	if answered := s.Approved + s.Denied; answered > 0 {
		say("%d of %d answered, half of them within %s", answered, s.Questions, seconds(s.MedianSeconds))
		say("%d approved, %d denied", s.Approved, s.Denied)
	}
	if s.Tried > 0 {
		say("%d tried first", s.Tried)
	}
	if s.Undone > 0 {
		say("%d approved and undone later", s.Undone)
	}
	if s.Quick > 0 {
		say("%d answered within 2 seconds, perhaps unread", s.Quick)
	}
	if answered := s.Approved + s.Denied; answered >= minAnswers && 2*s.Quick > answered {
		say("Most cards are not read. For rules in their place: umpire suggest")
	} else if s.Before != nil && s.Questions > s.Before.Questions {
		say("More questions than the week before. For rules in their place: umpire suggest")
	}
	t := app.NewTable(a.Stdout)
	if a.ToTerminal {
		t.Width = a.Columns()
	}
	section(a.Text, t, "agent", s.Agents, func(name string) string { return cmp.Or(name, "-") })
	section(a.Text, t, "project", s.Projects, func(id umpire.ProjectID) string {
		return cmp.Or(s.roots[id], id.Short(), "-")
	})
	section(a.Text, t, "asked about", s.Causes, func(c history.Cause) string { return causeText(a.Text, c) })
	section(a.Text, t, "day", s.Days, func(day string) string { return day })
	return t.Flush()
}

// minAnswers is the number of answers from which umpire says that most of them came too fast.
const minAnswers = 5

// maxRows is the greatest number of rows of a section.
const maxRows = 10

// section writes the groups of one kind as rows.
func section[K comparable](
	text *catalogue.Language, to io.Writer, title string, groups []history.Group[K], name func(K) string,
) {
	if len(groups) == 0 {
		return
	}
	head := []string{title, "calls", "questions", "in 100", "denied", "median"}
	for i := range head {
		head[i] = text.Word("statistics", head[i])
	}
	fmt.Fprintf(to, "\n%s\n", strings.Join(head, "\t"))
	hidden := len(groups) - maxRows
	if title == "day" && hidden > 0 { // the last days matter
		groups, hidden = groups[hidden:], 0
	}
	for i := range groups[:min(len(groups), maxRows)] {
		g := &groups[i]
		fmt.Fprintf(to, "%s\t%d\t%d\t%.1f\t%d\t%s\n", app.Clip(view.Visible(name(g.Of))), g.Calls, g.Questions,
			g.PerHundred(), g.Denied, median(&g.Count))
	}
	if hidden > 0 {
		fmt.Fprintf(to, text.Of("and %d more; --json has them all")+"\n", hidden)
	}
}

func median(c *history.Count) string {
	if c.Approved+c.Denied == 0 {
		return "-"
	}
	return seconds(c.MedianSeconds)
}

// seconds shows a time to an answer.
func seconds(s float64) string {
	if s < 1 {
		return "1s"
	}
	return view.Duration(time.Duration(s) * time.Second)
}

// causeText names a cause.
func causeText(text *catalogue.Language, c history.Cause) string {
	name := c.Name
	switch c.Kind {
	case umpire.KindExec, umpire.KindInvoke:
	case umpire.KindNetwork:
		name = fmt.Sprintf(text.Of("network: %s"), name)
	case umpire.KindRead, umpire.KindWrite, umpire.KindDelete, umpire.KindUnknown:
		name = text.Word("cause", c.Kind.String())
		if c.Place == umpire.PlaceOutside {
			name = fmt.Sprintf(text.Of("%s, outside the project"), name)
		}
	}
	return cmp.Or(name, "-")
}
