package view

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
)

// N-71, N-94: a full event has its type, request, rule, actor and scope in the person's
// language, and its text cannot control a terminal.
func TestEventDetail(t *testing.T) {
	t.Parallel()
	scope, verdict := umpire.ScopeProject, umpire.Allow
	e := umpire.Event{
		Kind: umpire.EventPermissionApproved, State: umpire.StateAllowed, Type: umpire.ShellExecute, Risk: "high", Verdict: &verdict,
		Blocked: &umpire.Blocked{Code: umpire.CodeMode, Detail: "asked"}, Reason: "asked", Rule: "r1", Scope: &scope,
		Actor: "ann\x1b[2J", Tool: "Bash", Request: "q1", Call: "c1", Batch: "b1", Session: "s1", Agent: "umpire",
		Accesses: []umpire.Access{{Kind: umpire.KindExec, Program: "rm", Args: []string{"x"}, Risk: umpire.High, Verdict: umpire.Ask, Reason: "deletes"}},
	}
	want := []string{
		"permission: allowed", "type: shell_execute", "risk: high", "verdict: allow", "blocked: asked", "rule: r1", "scope: project",
		`actor: ann\x1b[2J`, "tool: Bash", "access: ask  high  exec rm x  deletes", "request: q1", "call: c1", "batch: b1", "session: s1", "agent: umpire",
	}
	if diff := cmp.Diff(want, EventDetail(&e, nil)); diff != "" {
		t.Error(diff)
	}
	if lines := EventDetail(&e, chineseText); !slices.Contains(lines, "风险：高") || strings.Contains(strings.Join(lines, "\n"), "actor") {
		t.Errorf("in Chinese: %q", lines)
	}
	if lines := EventDetail(&umpire.Event{Kind: umpire.EventNotice}, nil); len(lines) != 0 {
		t.Errorf("of nothing it says %q", lines)
	}
}
