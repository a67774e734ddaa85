package view

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
)

// DescribeCoverage says in one line how many of the last asking calls an approval would have covered, and
// which was the worst. It returns nil if that is unknown.
func DescribeCoverage(c *Card, a umpire.Answer) []string {
	found := findCoverage(&c.Pending, &a)
	if found == nil || found.Of == 0 {
		return nil
	}
	if found.Worst == nil {
		return []string{c.text.Count(found.Of, "would not have covered the %d question here",
			"would have covered none of the last %d questions here")}
	}
	said := fmt.Sprintf(c.text.Of("would have covered %d of the last %d questions here"), found.Calls, found.Of)
	if found.Of == 1 {
		said = fmt.Sprintf(c.text.Of("would have covered the %d question here"), found.Calls)
	}
	worst := Bracketed(Visible(middleOut(cardAccess(c, found.Worst))),
		Joined(c.text.Of("risk "+found.Worst.Risk.Level()), ", ", c.text.Of(consequenceTexts[found.Worst.Consequence])))
	return []string{Joined(said, ", ", Joined(c.text.Of("the worst"), ": ", worst))}
}

// findCoverage returns the coverage of an answer, or nil if it is unknown, as for a rule that a person wrote.
func findCoverage(p *umpire.Pending, a *umpire.Answer) *umpire.Coverage {
	width := a.Width
	if width == umpire.WidthExact || len(p.Rules) == 1 && a.Rule == p.Rules[0] {
		width = umpire.WidthDefault
	} else if a.Rule != "" {
		return nil
	}
	at := slices.IndexFunc(p.Coverage, func(c umpire.Coverage) bool { return c.Scope == a.Scope && c.Width == width })
	if at < 0 {
		return nil
	}
	return &p.Coverage[at]
}

// fewQuestions is the minimum number of questions for CountCoverage.
const fewQuestions = 5

// CountCoverage is a short form of DescribeCoverage, and empty for few questions.
func CountCoverage(c *Card, a umpire.Answer) string {
	found := findCoverage(&c.Pending, &a)
	if found == nil || found.Of < fewQuestions {
		return ""
	}
	return fmt.Sprintf(c.text.Of("%d of the last %d questions"), found.Calls, found.Of)
}

// loadTime limits how long a card waits for the result, because an agent chose the calls to judge.
const loadTime = 2 * time.Second

// LoadCoverage reads the coverage of a question's answers from a gate. It returns nil once the
// question is no longer pending, or if reading takes too long.
func LoadCoverage(ctx context.Context, gate umpire.Answerer, p *umpire.Pending) ([]umpire.Coverage, error) {
	bounded, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	list, err := gate.Pending(bounded, umpire.PendingQuery{Session: p.Session, Coverage: p.Request})
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return nil, nil
	}
	for i := range list {
		if list[i].Request == p.Request {
			return list[i].Coverage, err
		}
	}
	return nil, err
}
