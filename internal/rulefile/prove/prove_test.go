package prove

import (
	"fmt"
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

func TestX(t *testing.T) {
	for _, level := range policy.Levels {
		w := world(t, level, "allow Bash(npm test:*)", "deny Bash(git push:*)", "allow Write(src/**)", "deny Write(src/secret/*)", "allow Read(~/notes/**)", "ask Edit(*.lock)")
		for _, q := range []Question{
			{Kind: umpire.KindWrite, Patterns: []string{home + "/.ssh/**"}},
			{Kind: umpire.KindRead, Patterns: []string{home + "/.ssh/**"}},
			{Kind: umpire.KindRead, Patterns: []string{root + "/.env"}},
			{Kind: umpire.KindRead, Patterns: []string{home + "/notes/**"}},
			{Kind: umpire.KindWrite, Patterns: []string{root + "/**"}},
			{Kind: umpire.KindWrite, Patterns: []string{root + "/src/secret/**"}},
			{Kind: umpire.KindWrite, Patterns: []string{root + "/src/secret/*"}},
			{Kind: umpire.KindWrite, Patterns: []string{root + "/**/*.lock"}},
			{Kind: umpire.KindWrite, Patterns: []string{"/etc/**"}},
			{Kind: umpire.KindWrite, Patterns: []string{"/**"}},
			{Kind: umpire.KindDelete, Patterns: []string{"/**"}},
			{Kind: umpire.KindRead, Patterns: []string{"/**"}},
			{Kind: umpire.KindWrite, Patterns: []string{"/tmp/**"}},
			{Kind: umpire.KindExec, Line: "git push"},
			{Kind: umpire.KindExec, Line: "git push", Words: true},
			{Kind: umpire.KindExec, Line: "npm", Words: true},
			{Kind: umpire.KindNetwork, Host: "example.com"},
		} {
			began := time.Now()
			n := w.decisions
			a := w.Can(q)
			x := ""
			if a.Example != nil {
				x = a.Example.Command + " " + a.Example.Call.Tool + string(a.Example.Call.Input)
			}
			t.Log(level, q.Kind, q.Patterns, q.Line, q.Host, "->", a.Result, a.Why, x, time.Since(began), w.decisions-n)
		}
	}
}
