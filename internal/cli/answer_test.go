package cli

import (
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/view"
)

func TestConfirmWord(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		answer umpire.Answer
		change func(*umpire.Pending)
		plain  bool
	}{
		{"medium, once", umpire.Answer{Choice: umpire.Approve}, nil, true},
		{"medium, session", umpire.Answer{Choice: umpire.Approve, Scope: umpire.ScopeSession}, nil, true},
		{"medium, project", umpire.Answer{Choice: umpire.Approve, Scope: umpire.ScopeProject}, nil, false},
		{"high", umpire.Answer{Choice: umpire.Approve}, func(p *umpire.Pending) { p.Risk = "high" }, false},
		{"a risk nobody knows", umpire.Answer{Choice: umpire.Approve}, func(p *umpire.Pending) { p.Risk = "" }, false},
		{"a warning", umpire.Answer{Choice: umpire.Approve}, func(p *umpire.Pending) { p.Warning = true }, false},
		{"indeterminate", umpire.Answer{Choice: umpire.Approve}, func(p *umpire.Pending) { p.Indeterminate = true }, false},
		{"deny", umpire.Answer{Choice: umpire.Refuse}, func(p *umpire.Pending) { p.Risk = "high" }, true},
		{"cancel", umpire.Answer{Choice: umpire.Cancel}, nil, true},
	} {
		p := umpire.Pending{Tool: "Bash", Risk: "medium"}
		if tt.change != nil {
			tt.change(&p)
		}
		first, err := confirmWord(&tt.answer, &p)
		second, again := confirmWord(&tt.answer, &p)
		if err != nil || again != nil || (first == "y") != tt.plain || !tt.plain && (first == second || len(first) != app.CodeLength) {
			t.Errorf("%s: %q and %q, %v", tt.name, first, second, err)
		}
	}
}

func TestCutColumns(t *testing.T) {
	t.Parallel()
	if line := cutColumns(strings.Repeat("工具", 50), 21); view.Columns(line) > 21 || !strings.HasSuffix(line, "…") {
		t.Errorf("%q has %d columns", line, view.Columns(line))
	}
	if line := cutColumns("short", 21); line != "short" {
		t.Errorf("%q", line)
	}
}
