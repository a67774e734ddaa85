package view

import (
	"fmt"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
)

// RuleText names a rule and where it is written.
func RuleText(r *umpire.RuleRef) string {
	place := r.Source.String()
	if r.File != "" {
		place += " " + r.File
	}
	if r.Line > 0 {
		place += fmt.Sprintf(":%d", r.Line)
	}
	return fmt.Sprintf("%s (%s)", r.ID, place)
}

// Why says which rows of the order of decision asked or denied, for which access, and by
// which rule. Its lines are safe to show.
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
		line := fmt.Sprintf("    %s  %s %d %s: %s", Verdict(r.Verdict, text, false),
			text.Of("row"), r.Row, policy.RowName(r.Row), text.Reason(r.Text))
		if r.Rule != nil {
			line += " [" + RuleText(r.Rule) + "]"
		}
		lines = append(lines, Visible(line))
	}
	return lines
}

// whyAccess is the line above the reasons about an access: what it is and what is known
// of it.
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
