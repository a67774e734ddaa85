package view

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/languages"
)

// TestCoverage: each lasting answer says how many recent calls it would have covered, and the worst of them.
// There is no such text for a rule that a person wrote, or if no call of the project asked.
func TestCoverage(t *testing.T) {
	t.Parallel()
	p := asked("Bash", map[string]any{"command": "git push"})
	p.Access, p.CommandInfo, p.Rules = "command", &umpire.CommandInfo{Command: "git push"}, []string{"Bash(git push)"}
	p.Coverage = []umpire.Coverage{
		{Scope: umpire.ScopeSession, Of: 57},
		{Scope: umpire.ScopeProject, Calls: 3, Of: 57, Worst: &umpire.Access{
			Kind: umpire.KindExec, Program: "git", Args: []string{"push\x1b[2J"}, Risk: umpire.High, Consequence: umpire.Outward,
		}},
		{Scope: umpire.ScopeGlobal},
	}
	_, c := shown(t, p, false)
	for _, tt := range []struct {
		answer umpire.Answer
		want   string
	}{
		{umpire.Answer{Scope: umpire.ScopeOnce}, ""},
		{umpire.Answer{Scope: umpire.ScopeSession}, "would have covered none of the last 57 questions here"},
		{
			umpire.Answer{Scope: umpire.ScopeProject, Rule: "Bash(git push)"},
			`would have covered 3 of the last 57 questions here, the worst: exec git 'push\x1b[2J' (risk high, leaves this machine)`,
		},
		{umpire.Answer{Scope: umpire.ScopeProject, Rule: "Bash(git:*)"}, ""},
		{umpire.Answer{Scope: umpire.ScopeProject, Width: umpire.WidthTool}, ""},
		{umpire.Answer{Scope: umpire.ScopeGlobal}, ""},
	} {
		if got := strings.Join(DescribeCoverage(c, tt.answer), "|"); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.answer, got, tt.want)
		}
	}
	if got := CountCoverage(c, umpire.Answer{Scope: umpire.ScopeProject}); got != "3 of the last 57 questions" {
		t.Errorf("in few words %q", got)
	}
	if !slices.ContainsFunc(c.Options(), func(o Option) bool { return strings.Contains(o.Text, "would have covered 3 of") }) {
		t.Errorf("no option says it: %+v", c.Options())
	}
	if said, _ := HowToSettle(&c.Pending, c.text); said != "" {
		t.Errorf("asked once: %q", said)
	}
	c.Pending.Coverage[0].Calls = 2
	if said, command := HowToSettle(&c.Pending, c.text); said != "Asked 3 times in 30 days. To answer such calls once" || command != "umpire suggest" {
		t.Errorf("asked three times: %q %q", said, command)
	}
	c.Pending.Coverage[0].Calls = 0
	chinese := New(p, c.Session, "", languages.Find("zh-CN"), p.AskedAt, false)
	got := strings.Join(DescribeCoverage(chinese, umpire.Answer{Scope: umpire.ScopeProject}), "|")
	if want := `会涵盖 3 次，此处最近共有 57 次询问，其中最严重的：执行 git 'push\x1b[2J'（风险：高，会离开本机）`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestReachOfTools: an approval for the session lists its coverage, also for tools that run one command.
func TestReachOfTools(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string]string{
		"GitPush": "until this session ends: exactly this command", "Write": "until this session ends: every call of Write inside the project",
	} {
		_, c := shown(t, asked(tool, map[string]any{"a": "b"}), false)
		if got := strings.Join(c.Reach(umpire.Answer{Scope: umpire.ScopeSession}), "|"); got != want {
			t.Errorf("%s: %q, want %q", tool, got, want)
		}
	}
}

// A slowGate takes longer than any caller waits.
type slowGate struct{ umpire.Answerer }

func (slowGate) Pending(ctx context.Context, _ umpire.PendingQuery) ([]umpire.Pending, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestLoadCoverageGivesUp checks that a card does not wait for a slow result, nor for a person who has left.
func TestLoadCoverageGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		if all, err := LoadCoverage(t.Context(), slowGate{}, &umpire.Pending{}); all != nil || err != nil {
			t.Errorf("%v, %v", all, err)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := LoadCoverage(ctx, slowGate{}, &umpire.Pending{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a person who has gone: %v", err)
	}
}
