package policy_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
	"github.com/umpirehq/umpire/shell"
)

// A server's claims about its tool raise the risk and never lower it.
func TestClaimsOnlyRaise(t *testing.T) {
	t.Parallel()
	for annotations, want := range map[string]umpire.Risk{
		``:                        umpire.Medium,
		`{}`:                      umpire.Medium,
		`null`:                    umpire.Medium,
		`{"readOnlyHint":true}`:   umpire.Medium,
		`{"idempotentHint":true}`: umpire.Medium,
		`{"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false}`: umpire.Medium,
		`{"destructiveHint":true}`:                     umpire.High,
		`{"openWorldHint":true}`:                       umpire.High,
		`{"readOnlyHint":true,"destructiveHint":true}`: umpire.High,
		`{"destructiveHint":"yes"}`:                    umpire.High,
		`[]`:                                           umpire.High,
	} {
		call := umpire.Call{Tool: "mcp__s__t", Input: json.RawMessage(`{}`)}
		if annotations != "" {
			call.Extra = map[string]json.RawMessage{"annotations": json.RawMessage(annotations)}
		}
		facts, err := policy.FactsOf(call, shell.Env{})
		if err != nil || len(facts.Accesses) != 1 || facts.Accesses[0].Risk != want || facts.Type != umpire.MCP {
			t.Errorf("%s: %+v, %v", annotations, facts, err)
		}
	}
}

// Only a server's tool has claims; they do not affect any other tool.
func TestClaimsAreForServers(t *testing.T) {
	t.Parallel()
	extra := map[string]json.RawMessage{"annotations": json.RawMessage(`{"destructiveHint":true}`)}
	for tool, input := range map[string]string{"Read": `{"file_path":"/p/a"}`, "TodoWrite": `{}`, "Unknown": `{}`} {
		call := umpire.Call{Tool: tool, Input: json.RawMessage(input), Dir: "/p"}
		plain, err := policy.FactsOf(call, shell.Env{})
		if err != nil {
			t.Fatal(err)
		}
		call.Extra = extra
		claimed, err := policy.FactsOf(call, shell.Env{})
		if err != nil || claimed.Risk() != plain.Risk() {
			t.Errorf("%s: %s became %s, %v", tool, plain.Risk(), claimed.Risk(), err)
		}
	}
}

// AllowMedium does not allow a tool that warns of itself.
func TestClaimsReachTheDecision(t *testing.T) {
	t.Parallel()
	p, err := policy.New(nil, policy.Options{Settings: policy.Settings{AllowMedium: true}})
	if err != nil {
		t.Fatal(err)
	}
	decide := func(annotations string) umpire.Decision {
		call := umpire.Call{Tool: "mcp__s__t", Input: json.RawMessage(`{}`), Extra: map[string]json.RawMessage{"annotations": json.RawMessage(annotations)}}
		facts, err := policy.FactsOf(call, shell.Env{})
		if err != nil {
			t.Fatal(err)
		}
		return policy.Decide(p, policy.Query{Call: call, Facts: facts, Conditions: policy.Conditions{Mode: umpire.ModeDefault}})
	}
	if d := decide(`{"readOnlyHint":true}`); d.Verdict != umpire.Allow {
		t.Errorf("medium risk: %s: %s", d.Verdict, d.Reason)
	}
	if d := decide(`{"destructiveHint":true}`); d.Verdict != umpire.Ask || !d.Warning || !strings.Contains(catalogue.English.Text(d.Reason), "dangerous") {
		t.Errorf("a destructive tool: %s: %s", d.Verdict, d.Reason)
	}
}

// A rule or grant that allowed a tool does not apply to a tool that its server now describes
// differently under the same name.
func TestToolsThatAreDescribedAnewAsk(t *testing.T) {
	t.Parallel()
	p, err := policy.New([]umpire.Rule{{ID: "all", Action: umpire.Allow, Tool: "mcp__s", Source: umpire.SourceUser}}, policy.Options{Root: "/p"})
	if err != nil {
		t.Fatal(err)
	}
	for anew, want := range map[string]umpire.Verdict{"": umpire.Allow, "false": umpire.Allow, "true": umpire.Ask, `"yes"`: umpire.Ask, "null": umpire.Ask} {
		call := umpire.Call{Tool: "mcp__s__t", Input: json.RawMessage(`{}`), Dir: "/p"}
		if anew != "" {
			call.Extra = map[string]json.RawMessage{"described_anew": json.RawMessage(anew)}
		}
		facts, err := policy.FactsOf(call, shell.Env{})
		if err != nil {
			t.Fatal(err)
		}
		q := policy.Query{Call: call, Facts: facts, Conditions: policy.Conditions{Mode: umpire.ModeDefault, Grants: []umpire.Grant{{Tool: call.Tool, Scope: umpire.ScopeSession}}}}
		if d := policy.Decide(p, q); d.Verdict != want {
			t.Errorf("%s: %s, want %s: %s", anew, d.Verdict, want, d.Reason)
		}
		q.Grants = []umpire.Grant{{Tool: call.Tool, Exact: policy.Exact(call), Scope: umpire.ScopeOnce}}
		if d := policy.Decide(p, q); d.Verdict != umpire.Allow {
			t.Errorf("%s, approved: %s: %s", anew, d.Verdict, d.Reason)
		}
	}
}
