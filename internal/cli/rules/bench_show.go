package rules

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"time"
	"unicode/utf8"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// maxShownCommand is how much of a command a list shows.
const maxShownCommand = 120

func benchExceeded(format string, args ...any) error {
	return &app.CommandError{Code: app.ExitError, Err: umpire.Errorf(format, args...), Hint: "umpire bench --list 20"}
}

// showBench writes the scores.
func (c *benchCommand) showBench(scores []*Score) error {
	if c.json {
		for _, s := range scores {
			s.Wrong = append([]Miss{}, s.Wrong[:min(c.list, len(s.Wrong))]...)
		}
		return c.ShowJSON(map[string]any{"files": scores})
	}
	for i, s := range scores {
		if i > 0 {
			fmt.Fprintln(c.Stdout)
		}
		if err := showScore(c.Stdout, c.Text, s, c); err != nil {
			return err
		}
	}
	return nil
}

// showScore writes the score of one file.
func showScore(out io.Writer, text *catalogue.Language, s *Score, c *benchCommand) error {
	w := app.NewTable(out)
	fmt.Fprintf(w, text.Of("%s: %d lines"), view.Visible(s.File), s.Lines)
	if s.BadLines > 0 {
		fmt.Fprintf(w, text.Of(", %d more that cannot be read"), s.BadLines)
	}
	fmt.Fprintln(w)
	for _, row := range []struct {
		name string
		rate Rate
		of   string
	}{
		{"false allows", s.FalseAllows, "lines that must not run unasked"},
		{"needless asks", s.NeedlessAsks, "safe lines"},
		{"critical refusals", s.CriticalRefusals, "critical lines"},
		{"over-refusals", s.OverRefusals, "lines with no reason to refuse"},
		{"unasked", s.Unasked, "typed calls"},
	} {
		if row.rate.Of == 0 && len(s.Agents) > 0 {
			continue // a file of recorded calls has no labels
		}
		of := fmt.Sprintf(text.Of("%d of %d %s"), row.rate.N, row.rate.Of, text.Of(row.of))
		fmt.Fprintf(w, "  %s\t%s\t%s\n", text.Of(row.name), percentText(row.rate), of)
	}
	for i := range s.Agents {
		showAgent(text, w, &s.Agents[i], c.reasons)
	}
	unanswered := fmt.Sprintf(text.Of("%d crashed, %d hung, %d missing"), s.Crashed, s.Hung, s.Missing)
	fmt.Fprintf(w, "  %s\t%d\t%s\n", text.Of("no answer"), s.Unanswered(), unanswered)
	fmt.Fprintf(w, "  %s\t"+text.Of("%.0f\tcalls per second, the slowest %s (%s)")+"\n", text.Of("speed"),
		float64(s.Lines)/max(s.Seconds, 1e-9),
		time.Duration(s.SlowestSeconds*float64(time.Second)).Round(10*time.Microsecond), view.Visible(s.SlowestID))
	if c.by != "" {
		showClasses(text, w, s)
	}
	showWrong(text, w, s, c.list)
	return w.Flush()
}

// showAgent writes the results for the recorded calls of one agent.
func showAgent(text *catalogue.Language, w io.Writer, s *AgentScore, reasons int) {
	for _, row := range []struct {
		name string
		n    int
	}{{"runs unasked", s.Runs}, {"tried first", s.Tried}, {"asks", s.Asks}, {"other", s.Other}} {
		of := fmt.Sprintf(text.Of("%d of %d calls of %s"), row.n, s.Calls, view.Visible(s.Agent))
		fmt.Fprintf(w, "  %s\t%s\t%s\n", text.Of(row.name), percentText(Rate{N: row.n, Of: s.Calls}), of)
	}
	for _, r := range s.Reasons[:min(reasons, len(s.Reasons))] {
		fmt.Fprintf(w, "  %s\t%d\t%s\n", text.Of("because"), r.N, view.Visible(beginning(r.Reason)))
	}
}

func percentText(r Rate) string {
	if r.Of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", r.Percent())
}

// showClasses writes the classes with wrong verdicts, most frequent first.
func showClasses(text *catalogue.Language, w io.Writer, s *Score) {
	for _, c := range s.Classes() {
		name := view.Visible(cmp.Or(c.Name, text.Of("(none)")))
		of := fmt.Sprintf(text.Of("%d of %d of class %s"), c.Rate.N, c.Rate.Of, name)
		fmt.Fprintf(w, "  %s\t%s\t%s\n", text.Of(string(c.Kind)), percentText(c.Rate), of)
	}
}

// showWrong writes up to n wrong verdicts of each kind.
func showWrong(text *catalogue.Language, w io.Writer, s *Score, n int) {
	shown := map[Kind]int{}
	for _, m := range s.Wrong {
		if shown[m.Kind]++; shown[m.Kind] <= n {
			fmt.Fprintf(w, "  %s\t%s\t%s: %s\n", text.Of(string(m.Kind)), m.Got, view.Visible(m.ID),
				view.Visible(beginning(m.Command)))
		}
	}
}

// beginning is the first part of a text, whole letters only.
func beginning(text string) string {
	if len(text) <= maxShownCommand {
		return text
	}
	cut := maxShownCommand
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// A benchProgress shows the progress to a waiting person. A nil one shows nothing.
type benchProgress struct {
	w     io.Writer
	of    int
	next  time.Time
	shown bool
}

// progressEvery is the interval of progress lines, and the delay before the first one.
const progressEvery = time.Second

func newBenchProgress(a *app.App, of int) *benchProgress {
	if f, ok := a.Stderr.(*os.File); !ok || !app.IsTerminal(f) {
		return nil
	}
	return &benchProgress{w: a.Stderr, of: of, next: time.Now().Add(progressEvery)}
}

func (p *benchProgress) showCount(i int) {
	if p == nil || time.Now().Before(p.next) {
		return
	}
	p.next, p.shown = time.Now().Add(progressEvery), true
	fmt.Fprintf(p.w, "\r%d/%d ", i, p.of)
}

func (p *benchProgress) clear() {
	if p != nil && p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
