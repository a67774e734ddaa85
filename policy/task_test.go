package policy

import (
	"testing"
	"time"

	"github.com/umpirehq/umpire"
)

// taskGrant returns the grant of a line of a task.
func taskGrant(t *testing.T, task, rule string, most umpire.Consequence) umpire.Grant {
	t.Helper()
	r, err := ParseShort(rule)
	if err != nil {
		t.Fatal(err)
	}
	return umpire.Grant{
		ID: task + " " + rule, Scope: umpire.ScopeSession, Task: task, Tool: r.Tool, Match: r.Match,
		Cap: umpire.Cap{MaxConsequence: most},
	}
}

// TestTaskGrants: a task's approval allows what its lines say, and never answers a question that a rule or a guard
// asks. Two tasks never allow a call together.
func TestTaskGrants(t *testing.T) {
	t.Parallel()
	edit := taskGrant(t, "a", "Edit(**)", umpire.Reversible)
	touch := taskGrant(t, "a", "Bash(mytouch:*)", umpire.Lost)
	build := taskGrant(t, "b", "Bash(mybuild:*)", umpire.Lost)
	push := taskGrant(t, "a", "Bash(git push:*)", umpire.Reversible)
	asks := umpire.Rule{ID: "asks", Action: umpire.Ask, Tool: "Bash", Source: umpire.SourceUser}
	denies := umpire.Rule{ID: "denies", Action: umpire.Deny, Tool: "Bash", Source: umpire.SourceUser}
	plain := umpire.Grant{ID: "s", Scope: umpire.ScopeSession, Tool: "Bash", Match: umpire.Match{CommandPrefix: "mybuild"}}
	ended := touch
	ended.ExpiresAt = time.Unix(1, 0)
	for name, c := range map[string]struct {
		line   string
		grants []umpire.Grant
		rules  []umpire.Rule
		want   umpire.Verdict
	}{
		"no task":                   {line: "mytouch x", want: umpire.Ask},
		"a line allows":             {line: "mytouch x", grants: []umpire.Grant{touch}, want: umpire.Allow},
		"a redirection too":         {line: "mytouch x > out.txt", grants: []umpire.Grant{touch, edit}, want: umpire.Allow},
		"not without its own line":  {line: "mytouch x > out.txt", grants: []umpire.Grant{touch}, want: umpire.Ask},
		"another program":           {line: "mybuild x", grants: []umpire.Grant{touch}, want: umpire.Ask},
		"two tasks":                 {line: "mytouch x && mybuild y", grants: []umpire.Grant{touch, build}, want: umpire.Ask},
		"two tasks, interleaved":    {line: "mytouch x && mybuild y", grants: []umpire.Grant{touch, build, edit}, want: umpire.Ask},
		"the second task":           {line: "mybuild y", grants: []umpire.Grant{touch, build}, want: umpire.Allow},
		"a task and the session":    {line: "mytouch x && mybuild y", grants: []umpire.Grant{touch, plain}, want: umpire.Allow},
		"an ask rule":               {line: "mytouch x", grants: []umpire.Grant{touch}, rules: []umpire.Rule{asks}, want: umpire.Ask},
		"a deny rule":               {line: "mytouch x", grants: []umpire.Grant{touch}, rules: []umpire.Rule{denies}, want: umpire.Deny},
		"a guarded place":           {line: "mytouch x > .git/hooks/pre-commit", grants: []umpire.Grant{touch, edit}, want: umpire.Ask},
		"a secret":                  {line: "mytouch < .env", grants: []umpire.Grant{touch, edit}, want: umpire.Ask},
		"critical":                  {line: "mytouch x && rm -rf /", grants: []umpire.Grant{touch, edit}, want: umpire.Deny},
		"doubt":                     {line: "mytouch x; $RUN", grants: []umpire.Grant{touch, edit}, want: umpire.Ask},
		"outside":                   {line: "mytouch x > /other/file", grants: []umpire.Grant{touch, edit}, want: umpire.Ask},
		"a worse consequence":       {line: "git push origin main", grants: []umpire.Grant{push}, want: umpire.Ask},
		"a time that is over":       {line: "mytouch x", grants: []umpire.Grant{ended}, want: umpire.Ask},
		"the head of a task allows": {line: "mytouch x", grants: []umpire.Grant{{Scope: umpire.ScopeSession, Task: "a"}}, want: umpire.Ask},
	} {
		p, err := New(c.rules, testOptions)
		if err != nil {
			t.Fatal(err)
		}
		q := lineQuery(t, c.line)
		q.Mode, q.Now, q.Grants = umpire.ModeDefault, time.Unix(100, 0), c.grants
		if d := Decide(p, q); d.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %s", name, d.Verdict, c.want, d.Reason)
		}
	}
}

// TestTaskAnswersNoMode: in plan mode, and where nobody can answer, a task allows no more than other grants do.
func TestTaskAnswersNoMode(t *testing.T) {
	t.Parallel()
	p, err := New(nil, testOptions)
	if err != nil {
		t.Fatal(err)
	}
	q := lineQuery(t, "mytouch x")
	q.Mode, q.Grants = umpire.ModePlan, []umpire.Grant{taskGrant(t, "a", "Bash(mytouch:*)", umpire.Lost)}
	if d := Decide(p, q); d.Verdict != umpire.Deny || d.ReasonCode != umpire.CodePlan {
		t.Errorf("plan: %s %s", d.Verdict, d.ReasonCode)
	}
	q.Mode = umpire.ModeDefault
	if d := Decide(p, q); d.Verdict != umpire.Allow || len(d.Suggestions) != 0 {
		t.Errorf("%s, %d suggestions", d.Verdict, len(d.Suggestions))
	}
}
