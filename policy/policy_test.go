package policy

import (
	"slices"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell"
)

func TestPrecedence(t *testing.T) {
	t.Parallel()
	o := testOptions
	o.Precedence = DenyAllowAsk
	p := newPolicy(t, o, "allow Bash(npm:*)", "ask Bash(npm test:*)", "deny Bash(npm publish:*)")
	check(t, p, query("Bash", exec("npm test", umpire.Medium)), ruleAllow)
	check(t, p, query("Bash", exec("npm publish", umpire.Medium)), blocked)
	both := newPolicy(t, o, "ask Bash(npm test:*)")
	check(t, both, query("Bash", exec("npm test", umpire.Medium)), askedRule)
}

func TestOptionsOfRisk(t *testing.T) {
	t.Parallel()
	o := testOptions
	o.AllowMedium, o.DenyExternal = true, true
	p := newPolicy(t, o, "ask Read")
	check(t, p, query("Bash", exec("python3 x.py", umpire.Medium)), want{allow, umpire.CodeSafe, ""}) // N-35
	check(t, p, query("Bash", exec("git push", umpire.High)), modeAsk)                                // N-34
	check(t, p, query("Bash", doubtful(exec("python3 x.py", umpire.Medium))), unparsed)
	check(t, p, query("Write", write("/q/x")), want{deny, umpire.CodeExternalDirectory, ""})
	check(t, p, query("Read", read("/q/x")), want{deny, umpire.CodeExternalDirectory, ""}) // an ask rule shields nothing
}

func TestTightening(t *testing.T) {
	t.Parallel()
	p := newPolicy(t, testOptions)
	q := query("Read", read("a"))
	q.Tighten = []umpire.Rule{rule(t, "deny Read(a)")}
	check(t, p, q, blocked)
	q.Tighten = []umpire.Rule{{Action: umpire.Deny, Tool: "Read", Match: umpire.Match{PathGlob: "["}}}
	check(t, p, q, askedRule)
	q = query("Write", write("a"))
	q.Tighten = []umpire.Rule{rule(t, "allow Write")}
	check(t, p, q, modeAsk)
}

func TestNewRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	for _, r := range []umpire.Rule{
		{}, {Tool: "Read", Match: umpire.Match{PathGlob: "a["}}, {Tool: "Bash", Match: umpire.Match{PathGlob: "a"}},
		{Tool: "Read", Match: umpire.Match{CommandPrefix: "a"}}, {Tool: "*", Match: umpire.Match{CommandPrefix: "a", Domain: "b"}}, {Tool: "Read", Action: 9},
	} {
		if p, err := New([]umpire.Rule{r}, testOptions); err == nil || p != nil {
			t.Errorf("New(%+v) = %v, %v, want an error", r, p, err)
		}
	}
}

func TestRulesOrExpiryOrSource(t *testing.T) {
	t.Parallel()
	expired := rule(t, "allow Write")
	expired.ExpiresAt = testNow
	unknown := rule(t, "allow Write")
	unknown.Source = umpire.SourceUnknown
	p, err := New([]umpire.Rule{expired, unknown}, testOptions)
	if err != nil {
		t.Fatal(err)
	}
	check(t, p, query("Write", write("a")), modeAsk)
}

func TestProjectRuleIsNamedFirst(t *testing.T) {
	t.Parallel()
	project, user := rule(t, "deny Write"), rule(t, "deny Write")
	project.ID, project.Source, project.File, project.Line = "p", umpire.SourceProject, ".umpire/permissions.json", 4
	user.ID = "a"
	p, err := New([]umpire.Rule{user, project}, testOptions)
	if err != nil {
		t.Fatal(err)
	}
	d := check(t, p, query("Write", write("a")), want{deny, umpire.CodeBlocked, "Denied by rule: p"})
	if d.Rule == nil || *d.Rule != (umpire.RuleRef{ID: "p", Source: umpire.SourceProject, File: ".umpire/permissions.json", Line: 4}) {
		t.Errorf("rule %+v", d.Rule)
	}
	named := slices.ContainsFunc(d.Reasons, func(r umpire.Reason) bool { return r.Rule != nil && r.Rule.ID == "a" })
	if !named {
		t.Error("the user's rule is not among the reasons")
	}
}

// NU-1: a commit and a push have separate permission types, and ask.
func TestGitHasItsOwnType(t *testing.T) {
	t.Parallel()
	p := newPolicy(t, testOptions)
	for tool, want := range map[string]umpire.PermissionType{"GitCommit": umpire.GitCommit, "GitPush": umpire.GitPush} {
		facts, err := FactsOf(umpire.Call{Tool: tool, Input: []byte(`{}`)}, shell.Env{Dir: testRoot})
		if err != nil || facts.Type != want {
			t.Fatalf("%s has the type %s, %v", tool, facts.Type, err)
		}
		q := query(tool, facts.Accesses...)
		q.Facts.Type = facts.Type
		check(t, p, q, modeAsk)
	}
}

func TestDecisionFields(t *testing.T) {
	t.Parallel()
	p := newPolicy(t, testOptions)
	d := Decide(p, query("Bash", exec("rm -rf build", umpire.High), tree(umpire.KindDelete, "build")))
	if !d.Warning || d.Risk != umpire.High || d.Type != umpire.ShellExecute || d.Obligations != (umpire.Obligations{Sandbox: "workspace-write"}) {
		t.Errorf("C-49: %+v", d)
	}
	d = Decide(p, query("Read", read("/q/x")))
	if d.Type != umpire.ExternalDirectory || d.Warning || d.Obligations != (umpire.Obligations{Sandbox: "read-only"}) {
		t.Errorf("N-37: %+v", d)
	}
	if d := Decide(nil, query("Read", read("a"))); d.Verdict != umpire.Deny {
		t.Errorf("no policy: %s", d.Verdict)
	}
	if d := Decide(p, Query{}); d.Verdict != umpire.Deny || d.ReasonCode != umpire.CodeInvalid {
		t.Errorf("the zero query: %s %s", d.Verdict, d.ReasonCode)
	}
	bad := query("Read", read("a"))
	bad.Invalid = "path: want a text"
	check(t, p, bad, want{deny, umpire.CodeInvalid, "path: want a text"})
}
