package policy_test

import (
	"encoding/json"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
	"github.com/umpirehq/umpire/shell"
)

// N-07 through a server's tool: what nobody may do is refused although the tool is known
// by name only, and although a rule allows it. Nothing else changes by the guess.
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
		`{"command":"rm -rf /"}`:             true,
		`{"cmd":"ls; rm -rf /*"}`:            true,
		`{"command":"echo x >/dev/sda"}`:     true,
		`{"command":"npm publish --now"}`:    true,
		`{"command":"umpire approve abc"}`:   true,
		`{"path":"/etc/shadow"}`:             true,
		`{"paths":["/p/a","/p/keys/b"]}`:     true,
		`{"file_path":"/p/keys/b"}`:          true,
		`{"command":"rm -rf build"}`:         false,
		`{"command":"create","path":"/p/a"}`: false,
		`{"command":"curl example.com"}`:     false,
		`{"command":"view","path":"/o/a"}`:   false,
		`{"command":["rm","-rf","/"]}`:       false,
		`{"text":"rm -rf /"}`:                false,
		`{"path":5}`:                         false,
		`{}`:                                 false,
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
			if d := policy.Decide(p, policy.Query{Call: call, Facts: facts, Mode: umpire.ModeDefault}); d.Verdict != want {
				t.Errorf("%s %s: %s, want %s: %s", tool, input, d.Verdict, want, d.Reason)
			}
		}
	}
}
