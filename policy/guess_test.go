package policy_test

import (
	"encoding/json"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
	"github.com/umpirehq/umpire/shell"
)

// N-07 through a server's tool: refusals apply although the tool is known only by its name and
// a rule allows it. A guess changes nothing else.
func TestGuesses(t *testing.T) {
	t.Parallel()
	rules := []umpire.Rule{
		{ID: "deny-publish", Action: umpire.Deny, Tool: "Bash", Match: umpire.Match{CommandPrefix: "npm publish"}, Source: umpire.SourceUser},
		{ID: "deny-keys", Action: umpire.Deny, Tool: "Read", Match: umpire.Match{PathGlob: "/p/keys/**"}, Source: umpire.SourceUser},
		{ID: "deny-edit", Action: umpire.Deny, Tool: "Edit", Source: umpire.SourceUser},
		{ID: "deny-bash", Action: umpire.Deny, Tool: "Bash", Source: umpire.SourceUser},
		{ID: "ask-fetch", Action: umpire.Ask, Tool: "Bash", Match: umpire.Match{CommandPrefix: "curl"}, Source: umpire.SourceUser},
		{ID: "allow-tool", Action: umpire.Allow, Tool: "mcp__s__allowed", Source: umpire.SourceUser},
	}
	p, err := policy.New(rules, policy.Options{Root: "/p", Home: "/home/ann"})
	if err != nil {
		t.Fatal(err)
	}
	for input, refused := range map[string]bool{
		`{"command":"rm -rf /"}`:                                          true,
		`{"cmd":"ls; rm -rf /*"}`:                                         true,
		`{"command":"echo x >/dev/sda"}`:                                  true,
		`{"command":"npm publish --now"}`:                                 true,
		`{"command":"umpire approve abc"}`:                                true,
		`{"path":"/etc/shadow"}`:                                          true,
		`{"paths":["/p/a","/p/keys/b"]}`:                                  true,
		`{"file_path":"/p/keys/b"}`:                                       true,
		`{"command":"rm -rf build"}`:                                      false,
		`{"command":"create","path":"/p/a"}`:                              false,
		`{"command":"curl example.com"}`:                                  false,
		`{"command":"view","path":"/o/a"}`:                                false,
		`{"command":["rm","-rf","/"]}`:                                    true,
		`{"command":"ls","cmd":"rm -rf /"}`:                               true,
		`{"command":5,"cmd":["rm","-rf","/"]}`:                            true,
		`{"uri":"file:///etc/shadow"}`:                                    true,
		`{"source":"/p/a","destination":"/p/keys/b"}`:                     true,
		`{"command":["bash","-c","it's"]}`:                                false,
		`{"to":"ann@example.com","uri":"https://example.com/etc/shadow"}`: false,
		`{"text":"rm -rf /"}`:                                             false,
		`{"path":5}`:                                                      false,
		`{}`:                                                              false,
	} {
		for tool, otherwise := range map[string]umpire.Verdict{"mcp__s__asked": umpire.Ask, "mcp__s__allowed": umpire.Allow} {
			call := umpire.Call{Tool: tool, Input: json.RawMessage(input), Dir: "/p"}
			facts, err := policy.FactsOf(call, shell.Env{Home: "/home/ann"})
			if err != nil {
				t.Errorf("%s: %v", input, err)
				continue
			}
			for i := range facts.Guesses {
				facts.Guesses[i].Place = umpire.PlaceInside
			}
			want := otherwise
			if refused {
				want = umpire.Deny
			}
			if d := policy.Decide(p, policy.Query{Call: call, Facts: facts, Conditions: policy.Conditions{Mode: umpire.ModeDefault}}); d.Verdict != want {
				t.Errorf("%s %s: %s, want %s: %s", tool, input, d.Verdict, want, d.Reason)
			}
		}
	}
}

// An allowed tool of a server still asks before it receives paths that ask for every tool:
// umpire's own files and other control files, each time, and files of secrets unless a rule for
// the path lifts that.
func TestGuessesThatAsk(t *testing.T) {
	t.Parallel()
	rules := []umpire.Rule{
		{ID: "all", Action: umpire.Allow, Tool: "mcp__fs", Source: umpire.SourceUser},
		{ID: "known", Action: umpire.Allow, Tool: "Read", Match: umpire.Match{PathGlob: "/p/known/.env"}, Source: umpire.SourceUser},
	}
	p, err := policy.New(rules, policy.Options{Root: "/p", Home: "/home/ann", StateDir: "/home/ann/.umpire/state"})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		input                   string
		want, approved, lasting umpire.Verdict
	}{
		{`{"path":"/home/ann/.umpire/permissions.json"}`, umpire.Ask, umpire.Allow, umpire.Ask},
		{`{"path":"~/.umpire/state/umpire.db"}`, umpire.Deny, umpire.Deny, umpire.Deny},
		{`{"path":"/p/.umpire/permissions.json","content":"{}"}`, umpire.Ask, umpire.Allow, umpire.Ask},
		{`{"destination":".git/hooks/pre-commit"}`, umpire.Ask, umpire.Allow, umpire.Ask},
		{`{"uri":"file:///p/.claude/settings.json"}`, umpire.Ask, umpire.Allow, umpire.Ask},
		{`{"path":"/p/.env"}`, umpire.Ask, umpire.Allow, umpire.Allow},
		{`{"path":"/p/known/.env"}`, umpire.Allow, umpire.Allow, umpire.Allow},
		{`{"path":"/p/src/main.go"}`, umpire.Allow, umpire.Allow, umpire.Allow},
	} {
		call := umpire.Call{Tool: "mcp__fs__write", Input: json.RawMessage(row.input), Dir: "/p"}
		facts, err := policy.FactsOf(call, shell.Env{Home: "/home/ann"})
		if err != nil {
			t.Fatal(err)
		}
		for i := range facts.Guesses {
			facts.Guesses[i].Place, facts.Guesses[i].Resolved = umpire.PlaceInside, facts.Guesses[i].Target
		}
		q := policy.Query{Call: call, Facts: facts, Conditions: policy.Conditions{Mode: umpire.ModeDefault}}
		once, session := q, q
		once.Grants = []umpire.Grant{{Tool: call.Tool, Exact: policy.Exact(call), Scope: umpire.ScopeOnce}}
		session.Grants = []umpire.Grant{{Tool: call.Tool, Exact: policy.Exact(call), Scope: umpire.ScopeSession}}
		headless, bypass := q, q
		headless.Headless, bypass.Mode = true, umpire.ModeBypass
		for name, try := range map[string]struct {
			query policy.Query
			want  umpire.Verdict
		}{
			"by the rule": {q, row.want}, "approved once": {once, row.approved}, "approved for the session": {session, row.lasting}, "in bypass mode": {bypass, row.want},
		} {
			if d := policy.Decide(p, try.query); d.Verdict != try.want {
				t.Errorf("%s %s: %s, want %s: %s", row.input, name, d.Verdict, try.want, d.Reason)
			}
		}
		if d := policy.Decide(p, headless); (d.Verdict == umpire.Allow) != (row.want == umpire.Allow) {
			t.Errorf("%s, headless: %s: %s", row.input, d.Verdict, d.Reason)
		}
	}
}
