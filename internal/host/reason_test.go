package host

import (
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

// TestReasonNamesWhatDecided: the last row adds a reason to every access, allowed ones
// too. The sentence is about the access that settled the call, and the riskiest one.
func TestReasonNamesWhatDecided(t *testing.T) {
	t.Parallel()
	cd := umpire.Access{Kind: umpire.KindExec, Program: "cd", Args: []string{"build"}, Verdict: umpire.Allow, Risk: umpire.Safe, Reason: "changes the folder"}
	rm := umpire.Access{Kind: umpire.KindExec, Program: "rm", Args: []string{"-rf", "cache"}, Verdict: umpire.Ask, Risk: umpire.High, Reason: "deletes recursively"}
	log := umpire.Access{Kind: umpire.KindWrite, Target: "/w/../log.txt", Verdict: umpire.Ask, Risk: umpire.Medium, Reason: "writes a file"}
	mode := func(i int) umpire.Reason {
		return umpire.Reason{Row: 14, Verdict: umpire.Ask, Code: umpire.CodeMode, Text: "requires approval", Access: i}
	}
	outside := umpire.Reason{Row: 9, Verdict: umpire.Ask, Code: umpire.CodeExternalDirectory, Text: "Path is outside the project", Access: 2}
	d := umpire.Decision{
		Verdict: umpire.Ask, Warning: true, Reason: outside.Text, ReasonCode: outside.Code, Accesses: []umpire.Access{cd, rm, log},
		Reasons: []umpire.Reason{{Row: 10, Verdict: umpire.Allow, Code: umpire.CodeSafe}, mode(0), mode(1), outside, mode(2)},
	}
	for _, want := range []string{`Access: write "/w/../log.txt"`, `Riskiest: exec "rm -rf cache" (high: deletes recursively)`} {
		if text := askText(d); !strings.Contains(text, want) || strings.Contains(text, "cd build") {
			t.Errorf("got %s\nwant %s, and nothing of cd", text, want)
		}
	}

	plain := umpire.Decision{
		Verdict: umpire.Ask, Reason: "requires approval", ReasonCode: umpire.CodeMode, Accesses: []umpire.Access{cd, rm},
		Reasons:     []umpire.Reason{{Row: 10, Verdict: umpire.Allow, Code: umpire.CodeSafe}, mode(0), mode(1)},
		Suggestions: []umpire.Suggestion{{Action: umpire.Allow, Tool: "Bash", Match: umpire.Match{CommandPrefix: "rm -rf cache"}}},
	}
	text := askText(plain)
	if want := `Access: exec "rm -rf cache"`; !strings.Contains(text, want) || strings.Contains(text, "Riskiest") {
		t.Errorf("got %s\nwant %s once", text, want)
	}
	if want := "To settle it for good: umpire rules add allow 'Bash(rm -rf cache:*)'."; !strings.HasSuffix(text, want) {
		t.Errorf("got %s\nwant %s at its end", text, want)
	}

	said := umpire.Decision{
		Verdict: umpire.Deny, Reason: "Critical risk: deletes a home directory", ReasonCode: umpire.CodeCritical,
		Accesses: []umpire.Access{{Kind: umpire.KindDelete, Target: "/home/u", Risk: umpire.Critical, Reason: "deletes a home directory"}},
		Reasons:  []umpire.Reason{{Row: 3, Code: umpire.CodeCritical, Text: "Critical risk: deletes a home directory"}},
	}
	if text := denyText(Event{Host: &claude}, said); strings.Count(text, "deletes a home directory") != 1 {
		t.Errorf("said twice: %s", text)
	}
}

// A command that cannot stand in single quotes is not offered as something to type.
func TestLastingStepIsTypeable(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"echo it's", "echo \x1b[2J", "a\nb", strings.Repeat("x", 400)} {
		d := umpire.Decision{Suggestions: []umpire.Suggestion{{Action: umpire.Allow, Tool: "Bash", Match: umpire.Match{CommandPrefix: prefix}}}}
		if step := lastingStep(d); step != "" {
			t.Errorf("%q: offered %q", prefix, step)
		}
	}
}
