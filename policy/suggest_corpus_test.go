package policy

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

// corpusQueries returns the lines of umpire's corpus that ask.
func corpusQueries(t *testing.T) map[string]umpire.Decision {
	t.Helper()
	text, err := os.ReadFile("../internal/cli/rules/corpus.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]umpire.Decision{}
	for line := range strings.Lines(string(text)) {
		var l struct {
			Command string `json:"command"`
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if d := decideLine(t, l.Command); d.Verdict == umpire.Ask {
			asked[l.Command] = d
		}
	}
	if len(asked) < 100 {
		t.Fatalf("only %d lines ask", len(asked))
	}
	return asked
}

// rulesOf returns the rules of each width that a decision suggests, as an approval writes them.
func rulesOf(d *umpire.Decision) map[umpire.Width][]umpire.Rule {
	sets := map[umpire.Width][]umpire.Rule{}
	for _, s := range d.Suggestions {
		r := s.Rule()
		r.Source = umpire.SourceProject
		if s.Scope == umpire.ScopeGlobal {
			r.Source = umpire.SourceUser
		}
		sets[s.Width] = append(sets[s.Width], r)
	}
	return sets
}

// Every set of suggestions settles its call.
func TestSuggestionsSettle(t *testing.T) {
	t.Parallel()
	sets := 0
	for line, d := range corpusQueries(t) {
		for width, rules := range rulesOf(&d) {
			sets++
			if again := decideLine(t, line, rules...); again.Verdict != umpire.Allow {
				t.Errorf("%s: with the rules of width %s: %s %q", line, width, again.Verdict, again.Reason)
			}
		}
	}
	if sets < 100 {
		t.Errorf("only %d sets", sets)
	}
}

// widenings are additions that an agent may make to an approved command.
var widenings = []string{
	" --force", " -f", " --delete", " --mirror", " -d", " --amend", " --no-verify", " -n", " --hard", " --all", " --exec=./x", " -e ./x",
	" --upload-pack=./x", " --receive-pack=./x", " -o out", " --output=/q/out", " --config=x", " -c x", " -i", " -w", " -r", " -R", " --recursive", " -x",
	" src", " /q/x", " ~", " ..", " https://evil.example/x", " git@evil.example:x", " +main", " :main", " evil",
	"; ./x.sh", " && rm -rf src", " | sh", " > /q/out", " > .git/hooks/pre-commit", " $(./x.sh)", " `./x.sh`", " $X", " & ./x.sh",
}

// A rule from an approval never allows a call with a worse consequence or risk, other hosts, or
// other outside paths than the approved one.
func TestApprovalsNeverWiden(t *testing.T) {
	t.Parallel()
	tried := 0
	plainly := newPolicy(t, testOptions)
	for line, shown := range corpusQueries(t) {
		var sets []trial
		for width, rules := range rulesOf(&shown) {
			p, err := New(rules, testOptions)
			if err != nil {
				t.Fatal(err)
			}
			sets = append(sets, trial{width, p})
		}
		if len(sets) == 0 {
			continue
		}
		for _, more := range widenings {
			q := lineQuery(t, line+more)
			for _, mode := range []umpire.Mode{umpire.ModeDefault, umpire.ModeAuto} {
				q.Mode = mode
				plain := decideVerdict(plainly, q)
				for _, set := range sets {
					tried++
					if set.width == umpire.WidthTool || plain.Verdict == umpire.Allow || decideVerdict(set.policy, q).Verdict != umpire.Allow {
						continue
					}
					if why := widens(&plain, &shown, set.width); why != "" {
						t.Errorf("%s: width %s in mode %s allows %s: %s", line, set.width, mode, line+more, why)
					}
				}
			}
		}
	}
	if tried < 1000 {
		t.Errorf("only %d tried", tried)
	}
}

// A trial is a policy with the rules of a width.
type trial struct {
	width  umpire.Width
	policy *Policy
}

// onlyCovered reports whether another decision showed everything that asks in this one.
func onlyCovered(d, shown *umpire.Decision) bool {
	for i := range d.Accesses {
		a := &d.Accesses[i]
		if a.Verdict == umpire.Allow || a.Kind != umpire.KindExec {
			continue
		}
		if !slices.ContainsFunc(shown.Accesses, func(b umpire.Access) bool { return slices.Equal(a.Line, b.Line) }) {
			return false
		}
	}
	return true
}

// widens says how a decision exceeds the shown one, or returns "".
func widens(d, shown *umpire.Decision, width umpire.Width) string {
	for i := range d.Accesses {
		a := &d.Accesses[i]
		if a.Verdict == umpire.Allow {
			continue
		}
		same := func(b umpire.Access) bool {
			return a.Kind == b.Kind && a.Resolved == b.Resolved && (a.Paths() || a.Target == b.Target)
		}
		switch {
		case width == umpire.WidthExact && !onlyCovered(d, shown):
			return "another command"
		case a.Consequence != shown.Consequence && a.Consequence.AtLeast(shown.Consequence):
			return "consequence " + a.Consequence.String()
		case a.Risk != shown.Risk && a.Risk.AtLeast(shown.Risk):
			return "risk " + a.Risk.String()
		case a.Kind == umpire.KindNetwork && !slices.ContainsFunc(shown.Accesses, same):
			return "host " + a.Target
		case a.Paths() && a.Place == umpire.PlaceOutside && !slices.ContainsFunc(shown.Accesses, same) && width != umpire.WidthFolder:
			return "path " + a.Target
		}
	}
	return ""
}
