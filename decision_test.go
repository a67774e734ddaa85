package umpire_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
)

func TestDecisionSurvivesJSON(t *testing.T) {
	t.Parallel()
	rule := &umpire.RuleRef{ID: "tests", Source: umpire.SourceProject, File: ".umpire/permissions.json", Line: 4}
	match := umpire.Match{CommandPrefix: "rm -rf", PathGlob: "build/**", Domain: "pkg.go.dev"}
	decisions := map[string]umpire.Decision{
		"zero": {},
		"full": {
			Verdict: umpire.Allow, Risk: umpire.Low, Reason: "unit tests", ReasonCode: umpire.CodeRule,
			Type: umpire.ShellExecute, Warning: true, Rule: rule,
			Reasons: []umpire.Reason{{Row: 11, Verdict: umpire.Allow, Text: "t", Code: umpire.CodeRule, Rule: rule, Access: -1}},
			Accesses: []umpire.Access{{
				Kind: umpire.KindExec, Program: "npm", Args: []string{"test"}, Target: "/p", Verdict: umpire.Allow,
				Risk: umpire.Safe, Reason: "r", Doubt: "d", Table: "npm test",
			}},
			Obligations: umpire.Obligations{Sandbox: "workspace-write", Network: true},
			Suggestions: []umpire.Suggestion{{Action: umpire.Allow, Tool: "Bash", Match: match, Scope: umpire.ScopeProject}},
			Trial:       umpire.TrialFirst,
		},
	}
	for name, want := range decisions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			got := umpire.Decision{Verdict: umpire.Allow, Warning: true}
			if err := json.Unmarshal(data, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("after a round trip (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnreadableDecisionDenies(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"verdict":"perhaps"}`, `{"verdict":"allow","risk":"mild"}`, `{"verdict":"allow","accesses":3}`, `[]`} {
		got := umpire.Decision{Verdict: umpire.Allow, Risk: umpire.Safe}
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is read without an error", text)
		}
		if diff := cmp.Diff(umpire.Decision{}, got); diff != "" {
			t.Errorf("%s: want the zero value (-want +got):\n%s", text, diff)
		}
	}
}
