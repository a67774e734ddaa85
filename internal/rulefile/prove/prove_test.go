package prove

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

const root, home = "/home/ana/app", "/home/ana"

// world returns a world with rules in short form, each with its action before it.
func world(tb testing.TB, level policy.Level, rules ...string) *World {
	tb.Helper()
	s := Setting{
		Options: policy.Options{
			Root: root, Home: home,
			Settings: policy.Settings{Mode: umpire.ModeDefault, Autonomy: level.Autonomy()},
		},
		Given: policy.Conditions{Mode: umpire.ModeDefault, Now: time.Unix(1_700_000_000, 0)},
	}
	for i, text := range rules {
		var action umpire.Verdict
		var word, short string
		if n, _ := fmt.Sscanf(text, "%s", &word); n != 1 || action.UnmarshalText([]byte(word)) != nil {
			tb.Fatalf("rule %q", text)
		}
		short = text[len(word)+1:]
		r, err := policy.ParseShort(short)
		if err != nil {
			tb.Fatal(err)
		}
		r.Action, r.Source, r.File, r.Line, r.ID = action, umpire.SourceUser, "rules.json", i+1, umpire.RuleID(short)
		s.Rules = append(s.Rules, r)
	}
	w, err := New(s)
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// TestThousandRules: many rules are answered, or undecided, within seconds.
func TestThousandRules(t *testing.T) {
	t.Parallel()
	var rules []string
	for i := range 250 {
		rules = append(rules, fmt.Sprintf("allow Bash(tool%d run:*)", i), fmt.Sprintf("deny Write(part%d/**/x*)", i),
			fmt.Sprintf("allow Read(~/lib%d/**)", i), fmt.Sprintf("ask Edit(*.kind%d)", i))
	}
	w := world(t, policy.AutonomyLow, rules...)
	for _, q := range []Question{
		{Kind: umpire.KindWrite, Patterns: []string{home + "/.ssh/**"}},
		{Kind: umpire.KindWrite, Patterns: []string{root + "/**"}},
		{Kind: umpire.KindRead, Patterns: []string{home + "/**"}},
		{Kind: umpire.KindExec, Line: "git push", Words: true},
		{Kind: umpire.KindNetwork, Host: "*"},
	} {
		began := time.Now()
		a := w.Can(q)
		took := time.Since(began)
		t.Log(q.Kind, q.Patterns, q.Line, a.Result, a.Why, took)
		if took > longest {
			t.Errorf("%s %s %s took %s", q.Kind, q.Patterns, q.Line, took)
		}
	}
	began := time.Now()
	findings, whole := w.Lint()
	if took := time.Since(began); took > 3*longest {
		t.Errorf("lint took %s", took)
	}
	t.Log("lint:", len(findings), whole, time.Since(began))
}

// longest is the time for one question on a busy machine.
const longest = 20 * time.Second

func TestLint(t *testing.T) {
	t.Parallel()
	w := world(t, policy.AutonomyLow,
		"deny Bash(git:*)", "allow Bash(git push:*)", "deny Edit(src/**)", "allow Write(src/gen/*.go)", "allow Write(lib/**)",
		"ask Bash(npm:*)", "ask Bash(npm install:*)", "allow Read(docs/**)")
	var got []string
	findings, whole := w.Lint()
	for _, f := range findings {
		by := "nothing"
		if len(f.By) > 0 {
			by = string(f.By[0].ID)
		}
		got = append(got, policy.FormatShort(f.Rule)+" by "+by)
	}
	want := []string{
		"Bash(git push:*) by Bash(git:*)", "Write(src/gen/*.go) by Edit(src/**)", "Bash(npm install:*) by Bash(npm:*)",
	}
	if !whole || !slices.Equal(got, want) {
		t.Errorf("findings %q, want %q", got, want)
	}
}

// TestMemo: worlds that share a memo answer alike.
func TestMemo(t *testing.T) {
	t.Parallel()
	q := Question{Kind: umpire.KindWrite, Patterns: []string{root + "/**"}}
	memo := NewMemo()
	for i, rules := range [][]string{
		{"allow Write(src/**)"}, {"deny Write(src/**)"}, {"allow Write(src/**)"}, {"deny Write(**)", "allow Write(src/**)"},
	} {
		w := world(t, policy.AutonomyLow, rules...)
		w.Memo = memo
		if want := []Result{Yes, No, Yes, No}[i]; w.Can(q).Result != want {
			t.Errorf("%q: want %s", rules, want)
		}
	}
}
