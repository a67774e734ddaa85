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

// thirdTime is how often a call is asked about before its card names a way out.
const thirdTime = 3

// HowToSettle returns the command that settles calls like that of a question for longer, and the words that introduce
// it: a wider task, rules for calls that were asked about again and again, or a level of autonomy that runs or tries
// them. Without one, both are "".
func HowToSettle(p *umpire.Pending, text *catalogue.Language) (introduction, command string) {
	asked := 0 // in 30 days, this time too, as far as the narrowest lasting answer covers
	if len(p.Coverage) > 0 {
		asked = p.Coverage[0].Calls + 1
	}
	switch {
	case p.OutsideTask != "":
		said := text.Of("Outside the task that you approved. To widen it")
		return said, "umpire task draft --wider " + Visible(p.OutsideTask)
	case asked >= thirdTime:
		return fmt.Sprintf(text.Of("Asked %d times in 30 days. To answer such calls once"), asked), "umpire suggest"
	case p.RaiseTo == "":
		return "", ""
	case p.RaiseTries:
		return text.Of("To have calls like this tried first, with undo"), "umpire autonomy " + Visible(p.RaiseTo)
	}
	return text.Of("To have calls like this run"), "umpire autonomy " + Visible(p.RaiseTo)
}

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
