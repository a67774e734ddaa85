package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// TestProjectCode: project code runs unasked if the sandbox confines it or a person trusts the
// clone, and by a person's rule or grant.
func TestProjectCode(t *testing.T) {
	t.Parallel()
	allow, ask, deny := umpire.Allow, umpire.Ask, umpire.Deny
	held := func(q *Query) { q.Sandbox.Held = true }
	trusted := func(q *Query) { q.Trust.Trusted = true }
	written := func(q *Query) { q.Trust.Written = []string{"a.js", "b.js", "c.js", "d.js"} }
	mode := func(m umpire.Mode) func(*Query) { return func(q *Query) { q.Mode = m } }
	headless := func(q *Query) { q.Headless = true }
	nothing := func(*Query) {}
	for _, tt := range []struct {
		name   string
		line   string
		change []func(*Query)
		rules  []string
		want   umpire.Verdict
		code   umpire.ReasonCode
	}{
		{"neither held nor trusted", "npm test", []func(*Query){nothing}, nil, ask, umpire.CodeProjectCode},
		{"held", "npm test", []func(*Query){held}, nil, allow, umpire.CodeSafe},
		{"held, but set to run bare", "npm test", []func(*Query){held, func(q *Query) { q.Sandbox.Mode = umpire.SandboxFullAccess }}, nil, ask, umpire.CodeProjectCode},
		{"trusted", "npm test", []func(*Query){trusted}, nil, allow, umpire.CodeProjectCode},
		{"trusted, and written", "npm test", []func(*Query){trusted, written}, nil, ask, umpire.CodeWritten},
		{"trusted, and written, in auto", "npm test", []func(*Query){trusted, written, mode(umpire.ModeAuto)}, nil, ask, umpire.CodeWritten},
		{"written, and held", "npm test", []func(*Query){trusted, written, held}, nil, allow, umpire.CodeSafe},
		{"written, with a rule", "npm test", []func(*Query){trusted, written}, []string{"allow Bash(npm test)"}, allow, umpire.CodeRule},
		{"written, and not trusted", "npm test", []func(*Query){written}, nil, ask, umpire.CodeProjectCode},
		{"written, headless", "npm test", []func(*Query){trusted, written, headless}, nil, deny, umpire.CodeAutoDeny},
		{"auto", "npm test", []func(*Query){mode(umpire.ModeAuto)}, nil, ask, umpire.CodeProjectCode},
		{"plan, held and trusted", "npm test", []func(*Query){mode(umpire.ModePlan), held, trusted}, nil, deny, umpire.CodePlan},
		{"plan with a rule", "npm test", []func(*Query){mode(umpire.ModePlan), held}, []string{"allow Bash(npm test)"}, deny, umpire.CodePlan},
		{"reject, held and trusted", "npm test", []func(*Query){mode(umpire.ModeReject), held, trusted}, nil, deny, umpire.CodeAutoDeny},
		{"headless, held and trusted", "npm test", []func(*Query){headless, held, trusted}, nil, deny, umpire.CodeAutoDeny},
		{"headless with a rule", "npm test", []func(*Query){headless}, []string{"allow Bash(npm test)"}, allow, umpire.CodeRule},
		{"a person's rule", "npm test", []func(*Query){nothing}, []string{"allow Bash(npm test)"}, allow, umpire.CodeRule},
		{"a rule for another command", "npm test", []func(*Query){nothing}, []string{"allow Bash(npm run lint)"}, ask, umpire.CodeProjectCode},
		{"a grant", "npm test", []func(*Query){func(q *Query) {
			q.Grants = []umpire.Grant{{Tool: "Bash", Exact: "npm test", Scope: umpire.ScopeSession}}
		}}, nil, allow, umpire.CodeSession},
		{"allowAll", "npm test", []func(*Query){func(q *Query) { q.AllowAll = true }}, nil, allow, umpire.CodeAllowAll},
		{"a deny rule over trust", "npm test", []func(*Query){trusted}, []string{"deny Bash(npm test)"}, deny, umpire.CodeBlocked},
		{"medium, and neither held nor trusted", "npm run build", []func(*Query){nothing}, nil, ask, umpire.CodeMode},
		{"medium and held", "npm run build", []func(*Query){held}, nil, ask, umpire.CodeMode},
		{"in a compound", "ls && npm test", []func(*Query){nothing}, nil, ask, umpire.CodeProjectCode},
		{"none of it", "ls -l", []func(*Query){nothing}, nil, allow, umpire.CodeSafe},
		{"a look in plan mode", "npm --version", []func(*Query){mode(umpire.ModePlan)}, nil, allow, umpire.CodeSafe},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			q := command(tt.line)
			q.Trust.Why = "the code of this clone is not trusted"
			for _, change := range tt.change {
				change(&q)
			}
			d := Decide(newPolicy(t, testOptions, tt.rules...), q)
			if d.Verdict != tt.want || d.ReasonCode != tt.code {
				t.Fatalf("%v %s %q, want %v %s", d.Verdict, d.ReasonCode, d.Reason, tt.want, tt.code)
			}
			if tt.name == "medium, and neither held nor trusted" && !slices.ContainsFunc(d.Reasons, func(r umpire.Reason) bool { return r.Code == umpire.CodeProjectCode }) {
				t.Errorf("%+v: want project_code among the reasons", d.Reasons)
			}
			if tt.want == ask && tt.code == umpire.CodeProjectCode && !strings.Contains(catalogue.English.Text(d.Reason), catalogue.English.Text(q.Trust.Why)) {
				t.Errorf("%q does not say %q", d.Reason, q.Trust.Why)
			}
		})
	}
}
