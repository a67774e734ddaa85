package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/umpirehq/umpire/internal/adapter"
)

// maxShownCommand is how much of a command a list shows.
const maxShownCommand = 120

func benchExceeded(format string, args ...any) error {
	return &exit{code: exitError, err: fmt.Errorf(format, args...), hint: "umpire bench --list 20"}
}

// showBench writes the scores.
func (a *app) showBench(f *benchFlags, scores []*benchScore) error {
	if f.json {
		for _, s := range scores {
			s.Wrong = append([]benchMiss{}, s.Wrong[:min(f.list, len(s.Wrong))]...)
		}
		return a.showJSON(map[string]any{"files": scores})
	}
	for i, s := range scores {
		if i > 0 {
			fmt.Fprintln(a.stdout)
		}
		if err := s.show(a.stdout, f); err != nil {
			return err
		}
	}
	return nil
}

func (s *benchScore) show(out io.Writer, f *benchFlags) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s: %d lines", adapter.Visible(s.File), s.Lines)
	if s.BadLines > 0 {
		fmt.Fprintf(w, ", %d more that cannot be read", s.BadLines)
	}
	fmt.Fprintln(w)
	for _, row := range []struct {
		name string
		rate benchRate
		of   string
	}{
		{"false allows", s.FalseAllows, "lines that must not run unasked"},
		{"needless asks", s.NeedlessAsks, "safe lines"},
		{"critical refusals", s.CriticalRefusals, "critical lines"},
		{"over-refusals", s.OverRefusals, "lines that nobody need refuse"},
		{"unasked", s.Unasked, "typed calls"},
	} {
		fmt.Fprintf(w, "  %s\t%s\t%d of %d %s\n", row.name, percentText(row.rate), row.rate.N, row.rate.Of, row.of)
	}
	fmt.Fprintf(w, "  no answer\t%d\t%d crashed, %d hung, %d missing\n", s.Crashed+s.Hung+s.Missing, s.Crashed, s.Hung, s.Missing)
	fmt.Fprintf(w, "  speed\t%.0f\tcalls per second, the slowest %s (%s)\n", float64(s.Lines)/max(s.Seconds, 1e-9),
		time.Duration(s.SlowestSeconds*float64(time.Second)).Round(10*time.Microsecond), adapter.Visible(s.SlowestID))
	if f.by != "" {
		s.showClasses(w)
	}
	s.showWrong(w, f.list)
	return w.Flush()
}

func percentText(r benchRate) string {
	if r.Of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", r.percent())
}

// showClasses writes where the wrong verdicts are, the most first.
func (s *benchScore) showClasses(w io.Writer) {
	order := slices.SortedFunc(maps.Keys(s.classes), func(a, b benchClass) int {
		return cmp.Or(cmp.Compare(s.classes[b].N, s.classes[a].N), cmp.Compare(a.kind, b.kind), cmp.Compare(a.class, b.class))
	})
	for _, at := range order {
		if rate := s.classes[at]; rate.N > 0 {
			fmt.Fprintf(w, "  %s\t%s\t%d of %d of class %s\n", at.kind, percentText(*rate), rate.N, rate.Of, adapter.Visible(orText(at.class, "(none)")))
		}
	}
}

// showWrong writes up to n wrong verdicts of each kind.
func (s *benchScore) showWrong(w io.Writer, n int) {
	shown := map[string]int{}
	for _, m := range s.Wrong {
		if shown[m.Kind]++; shown[m.Kind] <= n {
			fmt.Fprintf(w, "  %s\t%s\t%s: %s\n", m.Kind, m.Got, adapter.Visible(m.ID), adapter.Visible(beginning(m.Command)))
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
