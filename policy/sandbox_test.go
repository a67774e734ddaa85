package policy

import (
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/shell"
)

func command(line string) Query {
	facts, err := FactsOf(umpire.Call{Tool: "Bash", Dir: testOptions.Root, Input: []byte(`{"command":"` + line + `"}`)}, shell.Env{
		Dir: testOptions.Root, Home: testOptions.Home, Find: func(string, ...string) string { return "" },
	})
	if err != nil {
		panic(err)
	}
	for i := range facts.Accesses {
		facts.Accesses[i].Place, facts.Accesses[i].Resolved = umpire.PlaceInside, facts.Accesses[i].Target
	}
	return Query{
		Call: umpire.Call{Tool: "Bash", Dir: testOptions.Root, Input: []byte(`{"command":"` + line + `"}`)}, Facts: facts,
		Conditions: Conditions{
			Mode: umpire.ModeDefault,
		},
	}
}

func TestObligations(t *testing.T) {
	t.Parallel()
	read, write, full := umpire.SandboxReadOnly, umpire.SandboxWorkspaceWrite, umpire.SandboxFullAccess
	for _, tt := range []struct {
		line    string
		sandbox Sandbox
		want    umpire.Obligations
	}{
		{"ls", Sandbox{}, umpire.Obligations{Sandbox: read}},
		{"touch a", Sandbox{}, umpire.Obligations{Sandbox: write}},
		{"go test ./...", Sandbox{}, umpire.Obligations{Sandbox: write}}, // safe to start, and tests write
		{"npm install", Sandbox{}, umpire.Obligations{Sandbox: write, Network: true}},
		{"curl https://example.com", Sandbox{}, umpire.Obligations{Sandbox: write, Network: true}},
		{"npm view x", Sandbox{}, umpire.Obligations{Sandbox: read}}, // Facts cannot rule out an .npmrc
		{"kubectl get pods", Sandbox{}, umpire.Obligations{Sandbox: write, Network: true}},
		{"kubectl get pods && go test ./...", Sandbox{}, umpire.Obligations{Sandbox: write}}, // the tests would have it too
		{"npm outdated --all", Sandbox{}, umpire.Obligations{Sandbox: read, Network: true}},  // asks
		{"npm test", Sandbox{}, umpire.Obligations{Sandbox: write}},
		{"touch a", Sandbox{Mode: read}, umpire.Obligations{Sandbox: read}},
		{"touch a", Sandbox{Network: true}, umpire.Obligations{Sandbox: write, Network: true}},
		{"ls", Sandbox{Mode: full}, umpire.Obligations{Sandbox: full, Network: true}},
		{"ls", Sandbox{Missing: "why"}, umpire.Obligations{Sandbox: full, Network: true}},
	} {
		q := command(tt.line)
		q.Sandbox = tt.sandbox
		if got := Decide(newPolicy(t, testOptions), q).Obligations; got != tt.want {
			t.Errorf("%s in %+v: %+v, want %+v", tt.line, tt.sandbox, got, tt.want)
		}
	}
}

// Plan mode neither writes nor reaches the network, whatever the sandbox settings.
func TestPlanIsReadOnly(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"ls", "touch a", "go test ./...", "npm install", "curl https://example.com", "kubectl get pods"} {
		for _, s := range []Sandbox{{}, {Mode: umpire.SandboxReadOnly}, {Network: true}, {Mode: umpire.SandboxFullAccess}} {
			q := command(line)
			q.Sandbox, q.Mode = s, umpire.ModePlan
			if got := Decide(newPolicy(t, testOptions), q).Obligations; got != (umpire.Obligations{Sandbox: umpire.SandboxReadOnly}) {
				t.Errorf("%s in %+v: %+v", line, s, got)
			}
		}
	}
	q := command("ls")
	q.Sandbox, q.Mode = Sandbox{Mode: umpire.SandboxFullAccess, Absent: true}, umpire.ModePlan
	if got := Decide(newPolicy(t, testOptions), q); got.Verdict != umpire.Allow || got.Obligations.Sandbox != umpire.SandboxFullAccess {
		t.Errorf("where there is no sandbox: %v %+v", got.Verdict, got.Obligations)
	}
}

// A command without a sandbox asks, whichever mode or rule would allow it; only an approval of
// this very call lifts that.
func TestWithoutSandboxACommandAsks(t *testing.T) {
	t.Parallel()
	bare := func(change func(*Query)) umpire.Decision {
		q := command("ls")
		q.Sandbox.Missing = "the kernel refuses namespaces"
		change(&q)
		return Decide(newPolicy(t, testOptions, "allow Bash", "deny Bash(rm:*)"), q)
	}
	for name, change := range map[string]func(*Query){
		"default": func(*Query) {}, "bypass": func(q *Query) { q.Mode = umpire.ModeBypass },
		"auto": func(q *Query) { q.Mode = umpire.ModeAuto }, "allowAll": func(q *Query) { q.AllowAll = true },
		"a grant for the project": func(q *Query) { q.Grants = []umpire.Grant{{Tool: "Bash", Exact: "ls", Scope: umpire.ScopeProject}} },
	} {
		d := bare(change)
		if d.Verdict != umpire.Ask || d.ReasonCode != umpire.CodeNoSandbox || catalogue.English.Text(d.Reason) != "No sandbox: the kernel refuses namespaces" {
			t.Errorf("%s: %v %s %q, want it to ask", name, d.Verdict, d.ReasonCode, d.Reason)
		}
		if len(d.Suggestions) > 0 {
			t.Errorf("%s: suggests %v, which would not settle it", name, d.Suggestions)
		}
	}
	for _, scope := range []umpire.Scope{umpire.ScopeOnce, umpire.ScopeSession} {
		d := bare(func(q *Query) { q.Grants = []umpire.Grant{{Tool: "Bash", Exact: "ls", Scope: scope}} })
		if d.Verdict != umpire.Allow || d.Obligations.Sandbox != umpire.SandboxFullAccess {
			t.Errorf("approved for %v: %v in %s", scope, d.Verdict, d.Obligations.Sandbox)
		}
	}
	d := bare(func(q *Query) { q.Headless = true })
	if d.Verdict != umpire.Deny || d.ReasonCode != umpire.CodeAutoDeny || !strings.HasPrefix(catalogue.English.Text(d.Reason), "non_interactive confirmation required: No sandbox: ") {
		t.Errorf("headless: %v %s %q", d.Verdict, d.ReasonCode, d.Reason)
	}
	d = bare(func(q *Query) { q.Mode = umpire.ModeReject })
	if d.Verdict != umpire.Deny {
		t.Errorf("reject: %v", d.Verdict)
	}
	if d := bare(func(q *Query) { *q = with(command("rm a"), q.Sandbox) }); d.Verdict != umpire.Deny {
		t.Errorf("a denied command: %v", d.Verdict)
	}
	if d := bare(func(q *Query) { q.Call.Tool = "Read" }); d.Verdict != umpire.Allow {
		t.Errorf("Read, which runs in umpire itself: %v %s", d.Verdict, d.Reason)
	}
}

func with(q Query, s Sandbox) Query {
	q.Sandbox = s
	return q
}
