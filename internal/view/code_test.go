package view

import (
	"testing"

	"github.com/umpirehq/umpire"
)

func TestNeedsCode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		answer umpire.Answer
		change func(*umpire.Pending)
		needs  bool
	}{
		{"medium, once", umpire.Answer{Choice: umpire.Approve}, nil, false},
		{"medium, session", umpire.Answer{Choice: umpire.Approve, Scope: umpire.ScopeSession}, nil, false},
		{"medium, project", umpire.Answer{Choice: umpire.Approve, Scope: umpire.ScopeProject}, nil, true},
		{"medium, global", umpire.Answer{Choice: umpire.Approve, Scope: umpire.ScopeGlobal}, nil, true},
		{"high", umpire.Answer{Choice: umpire.Approve}, func(p *umpire.Pending) { p.Risk = "high" }, true},
		{"a risk nobody knows", umpire.Answer{Choice: umpire.Approve}, func(p *umpire.Pending) { p.Risk = "" }, true},
		{"a warning", umpire.Answer{Choice: umpire.Approve}, func(p *umpire.Pending) { p.Warning = true }, true},
		{"indeterminate", umpire.Answer{Choice: umpire.Approve}, func(p *umpire.Pending) { p.Indeterminate = true }, true},
		{"deny", umpire.Answer{Choice: umpire.Refuse}, func(p *umpire.Pending) { p.Risk = "high" }, false},
		{"cancel", umpire.Answer{Choice: umpire.Cancel}, nil, false},
		{"try", umpire.Answer{Choice: umpire.Try}, func(p *umpire.Pending) { p.Risk = "high" }, false},
		{
			"try again, which approves", umpire.Answer{Choice: umpire.Try},
			func(p *umpire.Pending) { p.Risk, p.TrialOffer = "high", umpire.TrialAgain }, true,
		},
	} {
		p := umpire.Pending{Tool: "Bash", Risk: "medium"}
		if tt.change != nil {
			tt.change(&p)
		}
		if got := NeedsCode(&tt.answer, &p); got != tt.needs {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
