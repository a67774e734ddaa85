package view

import (
	"fmt"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
)

// RuleText names a rule and its file.
func RuleText(r *umpire.RuleRef, text *catalogue.Language) string {
	place := text.Word("source", r.Source.String())
	if r.File != "" {
		place += " " + r.File
	}
	if r.Line > 0 {
		place += fmt.Sprintf(":%d", r.Line)
	}
	return Bracketed(string(r.ID), place)
}

// RowText names the deciding row, the reason and the rule. It is not made safe to show.
func RowText(r *umpire.Reason, text *catalogue.Language) string {
	said := Joined(fmt.Sprintf("%s %d %s", text.Of("row"), r.Row, RowName(r.Row, text)), ": ", text.Reason(r.Text))
	if r.Rule != nil {
		said += " [" + RuleText(r.Rule, text) + "]"
	}
	return said
}

// RowName is the name of a row of the order of decision.
func RowName(row int, text *catalogue.Language) string { return text.Word("row", policy.RowName(row)) }

// Why lists the rows of the order of decision that asked or denied, with their access
// and rule. Its lines are safe to show.
func Why(d *umpire.Decision, text *catalogue.Language) []string {
	var lines []string
	last := -2
	for i := range d.Reasons {
		r := &d.Reasons[i]
		known := r.Access >= 0 && r.Access < len(d.Accesses)
		if r.Verdict == umpire.Allow || known && d.Accesses[r.Access].Verdict == umpire.Allow {
			continue
		}
		if r.Access != last {
			last = r.Access
			lines = append(lines, whyAccess(d, r.Access, text))
		}
		lines = append(lines, Visible(fmt.Sprintf("    %s  %s", Verdict(r.Verdict, text, false), RowText(r, text))))
	}
	return lines
}

// HowToSettle returns, for a decision, the command that drafts a wider task, or else the one that raises autonomy to a
// level where such calls run, or are tried first, and the words that introduce it; both are "" without a task and a
// level.
func HowToSettle(task, level string, tries bool, text *catalogue.Language) (introduction, command string) {
	said := text.Of("To have calls like this run")
	switch {
	case task != "":
		return text.Of("Outside the task that you approved. To widen it"), "umpire task draft --wider " + Visible(task)
	case level == "":
		return "", ""
	case tries:
		said = text.Of("To have calls like this tried first, with undo")
	}
	return said, "umpire autonomy " + Visible(level)
}

// HowToSettleCard returns the command that settles such calls for longer, and the words that introduce it, if there is
// one: a wider task, rules for calls that were asked about again and again, or a level of autonomy.
func HowToSettleCard(c *Card) (introduction, command string) {
	p := &c.Pending
	if len(p.Coverage) > 0 && p.OutsideTask == "" && p.Coverage[0].Calls+1 >= thirdTime { // by the narrowest answer
		return c.text.Count(p.Coverage[0].Calls+1, "Asked %d time in 30 days. To answer such calls once",
			"Asked %d times in 30 days. To answer such calls once"), "umpire suggest"
	}
	return HowToSettle(p.OutsideTask, p.RaiseTo, p.RaiseTries, c.text)
}

// thirdTime is how often a call is asked about before its card names a way out.
const thirdTime = 3

// whyAccess returns the line above the reasons about an access: the access and its own
// reason, if any.
func whyAccess(d *umpire.Decision, at int, text *catalogue.Language) string {
	if at < 0 || at >= len(d.Accesses) {
		return "  " + text.Of("the whole call")
	}
	a := &d.Accesses[at]
	line := "  " + AccessText(a, text)
	if a.Reason != "" {
		line = Joined(line, ": ", text.Reason(a.Reason))
	}
	return Visible(line)
}
