package task

import (
	"slices"
	"time"

	"github.com/umpirehq/umpire"
)

// A Question is a call that asks, as far as a draft depends on it.
type Question struct {
	Suggestions []umpire.Suggestion
	Most        umpire.Consequence
	Times       int // equal calls; 0 counts as 1
}

// The times and the duration that a draft proposes. A person may change them.
const (
	draftFor     = 2 * time.Hour
	wideTimes    = 20 // of a line that covers more than the calls that were seen
	exactTimes   = 10 // of a line that covers one command or file
	outwardTimes = 5  // of one that sends or loses data
)

// Draft returns a task that would have allowed the questions, and the indexes of those that no line
// can allow. Lines cover a folder or a subcommand if the call does nothing that cannot be undone, and
// otherwise just this call.
func Draft(title string, questions []Question) (t Task, left []int) {
	t = Task{Title: title, For: draftFor}
	for i := range questions {
		if !t.cover(&questions[i]) {
			left = append(left, i)
		}
	}
	slices.SortFunc(t.Lines, compareLines)
	return t, left
}

// Widen returns a draft that allows the lines of a task and the questions.
func Widen(old Task, questions []Question) (t Task, left []int) {
	t, left = Draft(old.Title, questions)
	t.For = old.For
	for _, line := range old.Lines {
		t.merge(line)
	}
	slices.SortFunc(t.Lines, compareLines)
	return t, left
}

// cover adds lines for a question, or reports that no line can allow it.
func (t *Task) cover(q *Question) bool {
	set := chooseSet(q)
	if len(set) == 0 {
		return false
	}
	var lines []Line
	for _, s := range set {
		l := Line{Times: exactTimes, Most: q.Most, Tool: s.Tool, Match: s.Match}
		switch {
		case q.Most.AtLeast(umpire.Outward):
			l.Times = min(max(q.Times, outwardTimes), maxTimes)
		case s.Match.Command == "":
			l.Times = wideTimes
		}
		fresh := Task{}
		if fresh.addLine(l.text()) != nil || fresh.Lines[0] != l {
			return false // the text could not say it
		}
		lines = append(lines, l)
	}
	if len(t.Lines)+len(lines) > maxLines {
		return false
	}
	for _, l := range lines {
		t.merge(l)
	}
	return true
}

// chooseSet returns the suggestions to draft lines from.
func chooseSet(q *Question) (set []umpire.Suggestion) {
	widths := []umpire.Width{umpire.WidthSubcommand, umpire.WidthFolder, umpire.WidthExact, umpire.WidthTool}
	if q.Most.AtLeast(umpire.Outward) {
		widths = []umpire.Width{umpire.WidthExact}
	}
	for _, width := range widths {
		for _, s := range q.Suggestions {
			if s.Width == width {
				set = append(set, s)
			}
		}
		if len(set) > 0 {
			return set
		}
	}
	return nil
}

// merge adds a line, or the times and the consequence of one to the line with its rule.
func (t *Task) merge(l Line) {
	at := slices.IndexFunc(t.Lines, func(has Line) bool { return has.Tool == l.Tool && has.Match == l.Match })
	if at < 0 {
		t.Lines = append(t.Lines, l)
		return
	}
	has := &t.Lines[at]
	has.Most = umpire.WorseConsequence(has.Most, l.Most)
	has.Times = max(has.Times, l.Times)
}
