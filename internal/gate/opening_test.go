package gate

import (
	"errors"
	"testing"

	"github.com/umpirehq/umpire"
)

// C-10: rules that a session is opened with allow what allow rules like them would, in
// this session and no other. Deny and ask rules, doubt and guarded places still speak.
func TestSessionIsOpenedWithRules(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	for _, r := range []umpire.Rule{
		{ID: "no", Action: umpire.Deny, Tool: "Bash", Match: umpire.Match{CommandPrefix: "make publish"}},
		{ID: "look", Action: umpire.Ask, Tool: "Bash", Match: umpire.Match{CommandPrefix: "make release"}},
	} {
		must(d.rules.Add(t.Context(), d.project, umpire.ScopeProject, r, umpire.Actor{}))(t)
	}
	s := d.session(umpire.Opening{AllowedTools: []string{"Write", "Bash(make:*)"}})
	other := d.session(umpire.Opening{})
	check := func(s umpire.Session, c umpire.Call, want umpire.Verdict, code umpire.ReasonCode) {
		t.Helper()
		c.Session, c.Dir = s.ID, d.project
		if got := must(d.Check(t.Context(), c))(t); got.Verdict != want || code != "" && got.ReasonCode != code {
			t.Errorf("%s %s: %s %s, want %s %s", c.Tool, c.Input, got.Verdict, got.ReasonCode, want, code)
		}
	}
	write := call("w", "Write", `{"file_path":"a.txt","content":"x"}`)
	check(s, write, umpire.Allow, umpire.CodeSession)
	check(s, command("m", "make frob"), umpire.Allow, umpire.CodeSession)
	check(s, command("o", "make frob && npm install x"), umpire.Ask, "")
	check(s, command("q", "make release"), umpire.Ask, umpire.CodeRule)
	check(s, command("n", "make publish"), umpire.Deny, umpire.CodeBlocked)
	check(s, command("c", "rm -rf /"), umpire.Deny, umpire.CodeCritical)
	check(s, call("g", "Write", `{"file_path":".envrc","content":"x"}`), umpire.Ask, umpire.CodeControlFile)
	check(s, call("e", "Write", `{"file_path":"/srv/x","content":"x"}`), umpire.Ask, umpire.CodeExternalDirectory)
	check(other, write, umpire.Ask, umpire.CodeMode)
	if n := count(d.kinds(s), umpire.EventGrantCreated); n != 2 {
		t.Errorf("%d grants are on the timeline", n)
	}
	if _, err := d.sessions.Open(t.Context(), umpire.Opening{Dir: d.project, AllowedTools: []string{"Bash("}}); !errors.Is(err, umpire.ErrInvalid) {
		t.Errorf("a rule that cannot be read: %v", err)
	}
}
