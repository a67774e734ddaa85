package policy

import (
	"testing"

	"github.com/umpirehq/umpire"
)

// While a rule file cannot be read, its rules might deny or ask, so every call asks.
func TestDegradedRulesAllowNothing(t *testing.T) {
	t.Parallel()
	degraded := func(q Query) Query {
		q.Degraded = "a.json:3:1: broken"
		return q
	}
	asked := want{ask, umpire.CodeDegraded, "A rule that denies or asks may be missing: a.json:3:1: broken"}
	list := query("Read", read("a"))
	headless := list
	headless.Headless = true
	granted := func(scope umpire.Scope) Query {
		q := list
		q.Grants = []umpire.Grant{{Tool: "Read", Scope: scope}}
		return q
	}
	for _, tt := range []struct {
		name  string
		rules []string
		query Query
		want  want
	}{
		{"what is safe", nil, list, asked},
		{"an allow rule of another file", []string{"allow Read"}, list, asked},
		{"bypass mode", nil, inMode(umpire.ModeBypass, list), asked},
		{"allowAll", nil, func() Query { q := query("Write", write("a")); q.AllowAll = true; return q }(), asked},
		{"plan mode", nil, inMode(umpire.ModePlan, list), asked},
		{"plan mode still refuses writes", nil, inMode(umpire.ModePlan, query("Write", write("a"))), want{deny, umpire.CodePlan, ""}},
		{"nobody there", nil, headless, want{deny, umpire.CodeAutoDeny, "non_interactive confirmation required…"}},
		{"reject mode", nil, inMode(umpire.ModeReject, list), want{deny, umpire.CodeAutoDeny, ""}},
		{"a deny rule still denies", []string{"deny Read"}, list, blocked},
		{"a once grant", nil, granted(umpire.ScopeOnce), want{allow, umpire.CodeOnce, ""}},
		{"a session grant", nil, granted(umpire.ScopeSession), want{allow, umpire.CodeSession, ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check(t, newPolicy(t, testOptions, tt.rules...), degraded(tt.query), tt.want)
		})
	}
}
