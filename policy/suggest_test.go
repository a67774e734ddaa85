package policy

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
)

func TestSuggestions(t *testing.T) {
	t.Parallel()
	dotted := read("/home/u/q/x")
	dotted.Target = testRoot + "/../q/x"
	for _, tt := range []struct {
		name  string
		rules []string
		q     Query
		want  []string // SCOPE SHORT, narrowest first
	}{
		{"A-16 the words, then the subcommand", nil, query("Bash", exec("npm install react", umpire.Medium)), []string{"session Bash(npm install react:*)", "project Bash(npm install:*)"}},
		{"a script by its name", nil, query("Bash", exec("npm run build -- x", umpire.Medium)), []string{"session Bash(npm run build -- x:*)", "project Bash(npm run build:*)"}},
		{"one for each part, narrow ones first", nil, query("Bash", exec("go build ./x", umpire.Medium), secondPart(exec("go test ./x", umpire.Medium))), []string{"session Bash(go build ./x:*)", "session Bash(go test ./x:*)", "project Bash(go build:*)", "project Bash(go test:*)"}},
		{"nothing broad for rm", nil, query("Bash", exec("rm -rf build", umpire.High), tree(umpire.KindDelete, "build")), []string{"session Bash(rm -rf build:*)"}},
		{"nothing broad for an interpreter", nil, query("Bash", exec("python3 x.py", umpire.Medium)), []string{"session Bash(python3 x.py:*)"}},
		{"a redirection", nil, query("Bash", exec("echo x", umpire.Safe), redirect(write("out/a[1].txt"))), []string{`session Edit(out/a\[1\].txt)`}},
		{"a file", nil, query("Write", write("a.ts")), []string{"session Write(a.ts)"}},
		{"N-42 outside: the path, then its folder", nil, query("Read", read("/q/x")), []string{"session Read(/q/x)", "project Read(/q/**)"}},
		{"N10 outside by dots", nil, query("Bash", exec("cat ../q/x", umpire.Safe), dotted), []string{"session Read(/home/u/q/x)", "project Read(/home/u/q/**)"}},
		{"a host", nil, query("WebFetch", network("https://x.org/a")), []string{"session WebFetch(domain:x.org)"}},
		{"a tool", nil, query("mcp__a__b", invoke("mcp__a__b", umpire.Medium)), []string{"session mcp__a__b"}},
		{"none for doubt", nil, query("Bash", doubtful(exec("x $Y", umpire.Medium))), nil},
		{"none for control files", nil, query("Write", write(".envrc")), nil},
		{"none for what a rule asks", []string{"ask Write"}, query("Write", write("a")), nil},
		{"none when allowed", nil, query("Read", read("a")), nil},
		{"none when denied", []string{"deny Write"}, query("Write", write("a")), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, s := range Decide(newPolicy(t, testOptions, tt.rules...), tt.q).Suggestions {
				got = append(got, s.Scope.String()+" "+FormatShort(umpire.Rule{Tool: s.Tool, Match: s.Match}))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What a suggestion promises must hold: with all of them the call runs.
func TestSuggestionsSettleTheQuestion(t *testing.T) {
	t.Parallel()
	for _, q := range []Query{
		query("Bash", exec("npm install react", umpire.Medium), write("package.json"), network("x.org")),
		query("Bash", exec("echo it's", umpire.Medium), redirect(write("a*b"))),
		query("Read", read("/q/x")), query("Write", write("a b{c}.ts")), query("Delete", tree(umpire.KindDelete, "build")),
		query("WebFetch", network("x.org")), query("mcp__a__b", invoke("mcp__a__b", umpire.Medium)),
	} {
		var rules []umpire.Rule
		for _, s := range Decide(newPolicy(t, testOptions), q).Suggestions {
			rules = append(rules, umpire.Rule{Action: s.Action, Tool: s.Tool, Match: s.Match, Source: umpire.SourceUser})
		}
		p, err := New(rules, testOptions)
		if err != nil {
			t.Fatal(err)
		}
		if d := Decide(p, q); d.Verdict != umpire.Allow {
			t.Errorf("%s with %d suggested rules: %s %q", q.Call.Tool, len(rules), d.Verdict, d.Reason)
		}
	}
}

func TestExact(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ tool, input, want string }{
		{"Bash", `{"command":"  make build\n"}`, "make build"},
		{"Bash", `{"cmd":"make","description":"x"}`, "make"},
		{"Bash", `{"command":1}`, ""},
		{"Edit", `{"b":1,"a":{"d":12345678901234567890,"c":"<"}}`, `{"a":{"c":"\u003c","d":12345678901234567890},"b":1}`},
		{"Edit", `[1]`, ""},
		{"Edit", ``, ""},
	} {
		if got := Exact(umpire.Call{Tool: tt.tool, Input: json.RawMessage(tt.input)}); got != tt.want {
			t.Errorf("Exact(%s %s) = %q, want %q", tt.tool, tt.input, got, tt.want)
		}
	}
}

func TestStripped(t *testing.T) {
	t.Parallel()
	p := newPolicy(t, testOptions, "allow Bash", "allow *", "deny Bash", "allow Bash(python3.11:*)", "allow Bash(bash -c:*)", "allow Bash(sudo:*)",
		"allow Bash(npm test:*)", "allow Bash(go test:*)", "allow Read", "allow Bash(python3 x.py:*)")
	got := map[umpire.RuleID]bool{}
	for _, r := range p.Stripped(umpire.ModeAuto) {
		got[r.ID] = true
	}
	want := map[umpire.RuleID]bool{"allow Bash": true, "allow *": true, "allow Bash(python3.11:*)": true, "allow Bash(bash -c:*)": true, "allow Bash(sudo:*)": true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if left := p.Stripped(umpire.ModeDefault); left != nil {
		t.Errorf("default mode strips %v", left)
	}
}
