package history

import (
	"slices"
	"testing"

	"github.com/umpirehq/umpire"
)

func TestOutcomeOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		decision umpire.Decision
		want     string
	}{
		{umpire.Decision{}, "deny"},
		{umpire.Decision{Verdict: umpire.Ask}, "ask"},
		{umpire.Decision{Verdict: umpire.Ask, Trial: umpire.TrialFirst}, "try"},
		{umpire.Decision{Verdict: umpire.Allow}, "allow"},
		{umpire.Decision{Verdict: 99}, "deny"},
	} {
		if got := OutcomeOf(&tt.decision).String(); got != tt.want {
			t.Errorf("%+v is %s, want %s", tt.decision, got, tt.want)
		}
	}
	if got := Outcome(99).String(); got != "deny" {
		t.Errorf("an outcome out of range is %s", got)
	}
}

func TestComparison(t *testing.T) {
	t.Parallel()
	var c Comparison
	for _, add := range []Change{
		{Subject: "same", Times: 5, Before: Asked, After: Asked, Consequence: umpire.Lost},
		{Subject: "stricter", Times: 1, Before: Ran, After: Asked, Consequence: umpire.Lost},
		{Subject: "once", Times: 1, Before: Asked, After: Ran, Consequence: umpire.Reversible},
		{Subject: "often", Times: 7, Before: Asked, After: Tried, Consequence: umpire.Reversible},
		{Subject: "pushes", Times: 2, Before: Asked, After: Ran, Consequence: umpire.Outward},
		{Subject: "refused", Times: 1, Before: Refused, After: Asked, Consequence: umpire.Harmless},
	} {
		c.Add(add)
	}
	c.Sort()
	if c.Calls != 17 || c.Distinct != 6 || c.Before != 15 || c.After != 7 || c.Saved != 8 || c.Opened() != 11 {
		t.Errorf("%+v, %d opened", c, c.Opened())
	}
	var order []string
	refusals, questions, held := c.Split()
	for _, change := range slices.Concat(refusals, questions, held) {
		order = append(order, change.Subject)
	}
	if want := []string{"refused", "pushes", "often", "once", "stricter"}; !slices.Equal(order, want) {
		t.Errorf("the order is %q, want %q", order, want)
	}
	if len(refusals) != 1 || len(questions) != 3 || len(held) != 1 {
		t.Errorf("%d refusals, %d questions, %d held back", len(refusals), len(questions), len(held))
	}
}
