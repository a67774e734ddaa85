package host

import (
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/policy"
)

// TestReasonNamesWhatDecided: allowed parts add a reason to every decision. The text is about those that led to it, the
// worst first, and begins with our name.
func TestReasonNamesWhatDecided(t *testing.T) {
	t.Parallel()
	cd := umpire.Access{Kind: umpire.KindExec, Program: "cd", Args: []string{"build"}, Verdict: umpire.Allow, Risk: umpire.Safe, Reason: "changes the folder"}
	rm := umpire.Access{Kind: umpire.KindExec, Program: "rm", Args: []string{"-rf", "cache"}, Verdict: umpire.Ask, Risk: umpire.High, Reason: "deletes recursively"}
	log := umpire.Access{Kind: umpire.KindWrite, Target: "/w/../log.txt", Verdict: umpire.Ask, Risk: umpire.Medium, Place: umpire.PlaceOutside}
	mode := umpire.Phrase("Tool \"Bash\" requires approval (dangerous)")
	suggested := []umpire.Suggestion{{Action: umpire.Allow, Tool: "Bash", Match: umpire.Match{CommandPrefix: "rm -rf cache"}}}
	for _, tt := range []struct {
		name, want string
		d          umpire.Decision
	}{
		{"outside", "umpire: deletes recursively, and writes /w/../log.txt, outside the project.", umpire.Decision{
			Reason: umpire.Say(policy.OutsideProject, "/log.txt"), ReasonCode: umpire.CodeExternalDirectory, Accesses: []umpire.Access{cd, log, rm},
		}},
		{"mode", "umpire: deletes recursively. To settle it for good: umpire rules add allow 'Bash(rm -rf cache:*)'.", umpire.Decision{
			Reason: mode, ReasonCode: umpire.CodeMode, Accesses: []umpire.Access{cd, rm}, Suggestions: suggested,
		}},
		{"rule", `umpire: deletes recursively. The cache is slow to build. Rule: "cache" in /r.json:3.`, umpire.Decision{
			Reason: "The cache is slow to build", ReasonCode: umpire.CodeRule, Accesses: []umpire.Access{cd, rm},
			Rule: &umpire.RuleRef{ID: "cache", File: "/r.json", Line: 3},
		}},
		{"said twice", "umpire: deletes recursively. May give a secret away.", umpire.Decision{
			Reason: "May give a secret away: deletes recursively", ReasonCode: umpire.CodeSecret, Accesses: []umpire.Access{rm},
		}},
		{"no part", "umpire: The call names no tool.", umpire.Decision{Reason: "The call names no tool", ReasonCode: umpire.CodeInvalid}},
	} {
		tt.d.Verdict = umpire.Ask
		if got := askText(&Event{Host: &claude}, tt.d); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.name, got, tt.want)
		}
	}

	inside := umpire.Decision{Verdict: umpire.Ask, ReasonCode: umpire.CodeMode, Accesses: []umpire.Access{{
		Kind: umpire.KindWrite, Target: "/w/sub/a.go", Resolved: "/w/sub/a.go", Place: umpire.PlaceInside, Verdict: umpire.Ask,
	}}}
	e := Event{Host: &claude, Call: umpire.Call{Dir: "/w/sub"}, folders: view.Folders{Root: "/w", Home: "/home/u"}}
	if got, want := askText(&e, inside), "umpire: writes sub/a.go."; got != want { // not relative to the call's own folder
		t.Errorf("got  %s\nwant %s", got, want)
	}

	e.mayTry = true
	for _, tt := range []struct {
		tries bool
		want  string
	}{
		{false, "umpire: writes sub/a.go. To have such calls run: umpire autonomy medium."},
		{true, "umpire: writes sub/a.go. To have such calls tried first: umpire autonomy medium."},
	} {
		inside.RaiseTo, inside.RaiseTries, inside.Suggestions = "medium", tt.tries, suggested
		if got := askText(&e, inside); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
	e.mayTry = false // then a rule settles it
	if got, want := askText(&e, inside), "umpire: writes sub/a.go. To settle it for good: umpire rules add allow 'Bash(rm -rf cache:*)'."; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}

	home := umpire.Decision{
		Verdict: umpire.Deny, Reason: "Critical risk: deletes a home directory", ReasonCode: umpire.CodeCritical,
		Accesses: []umpire.Access{{Kind: umpire.KindDelete, Target: "/home/u", Risk: umpire.Critical}},
	}
	want := "umpire: Critical risk: deletes a home directory. " +
		"No approval can lift this: do not try it in another form, tell the user instead."
	if got := denyText(&Event{Host: &claude}, home); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A command that cannot be put in single quotes is not offered for typing.
func TestLastingStepIsTypeable(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"echo it's", "echo \x1b[2J", "a\nb", strings.Repeat("x", 400)} {
		d := umpire.Decision{Suggestions: []umpire.Suggestion{{Action: umpire.Allow, Tool: "Bash", Match: umpire.Match{CommandPrefix: prefix}}}}
		if step := (&Event{Host: &claude}).lastingStep(d); step != "" {
			t.Errorf("%q: offered %q", prefix, step)
		}
	}
}
