package policy

import (
	"encoding/json"
	"strings"
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
		want  []string // WIDTH SCOPE SHORT, narrowest first
	}{
		{"A-16 the whole command", nil, query("Bash", exec("npm install react", umpire.Medium)), []string{"exact session Bash(=npm install react)"}},
		{"then the subcommand", nil, query("Bash", known("git commit", "git commit -m x")), []string{"exact session Bash(=git commit -m x)", "subcommand project Bash(git commit:*) reversible shown"}},
		{"any package, for a session", nil, query("Bash", known("pip install", "pip install x")), []string{"exact session Bash(=pip install x)", "subcommand session Bash(pip install:*) reversible shown"}},
		{"a script by its name", nil, query("Bash", known("npm run", "npm run build -- x")), []string{"exact session Bash(=npm run build -- x)", "subcommand project Bash(npm run build:*) reversible shown"}},
		{"an option that changes what it does", nil, query("Bash", withExtra("-w", known("gofmt", "gofmt -w internal"))), []string{"exact session Bash(=gofmt -w internal)", "subcommand project Bash(gofmt -w:*) reversible shown"}},
		{"an option in another place", nil, query("Bash", withExtra("-w", known("gofmt", "gofmt -s -w internal"))), []string{"exact session Bash(=gofmt -s -w internal)"}},
		{"where a push goes", nil, query("Bash", outward(known("git push", "git push origin main"))), []string{"exact session Bash(=git push origin main)", "subcommand project Bash(git push origin:*) outward shown"}},
		{"one set for each width", nil, query("Bash", known("go build", "go build ./x"), secondPart(exec("make ./x", umpire.Medium))), []string{"exact session Bash(=go build ./x)", "exact session Bash(=make ./x)", "subcommand project Bash(go build:*) reversible shown", "subcommand session Bash(=make ./x)"}},
		{"a tree that is deleted", nil, query("Bash", exec("rm -rf build", umpire.High), tree(umpire.KindDelete, "build")), []string{"exact session Bash(=rm -rf build)"}},
		{"none for the trees of a pattern", nil, query("Bash", exec("rm -rf b*", umpire.High), tree(umpire.KindDelete, "b*")), nil},
		{"none for a force push", nil, query("Bash", withExtra("--force", exec("git push -f", umpire.High))), nil},
		{"none for an interpreter", nil, query("Bash", exec("python3.12 x.py", umpire.Medium)), nil},
		{"none for an assignment", nil, query("Bash", umpire.Access{Kind: umpire.KindExec, Words: []string{"LD_PRELOAD=x"}, Risk: umpire.High, Part: 1}), nil},
		{"a redirection", nil, query("Bash", exec("echo x", umpire.Safe), redirect(write("out/a[1].txt"))), []string{`exact session Edit(out/a\[1\].txt)`}},
		{"a file, its folder, the tool", nil, query("Write", write("src/a.ts")), []string{"exact session Write(src/a.ts)", "folder project Write(src/**)", "tool project Write"}},
		{"a file of the root", nil, query("Write", write("a.ts")), []string{"exact session Write(a.ts)", "tool project Write"}},
		{"N-42 outside: the path, then its folder", nil, query("Read", read("/q/x")), []string{"exact session Read(/q/x)", "folder session Read(/q/**)"}},
		{"N10 outside by dots", nil, query("Bash", exec("cat ../q/x", umpire.Safe), dotted), []string{"exact session Read(/home/u/q/x)", "folder session Read(/home/u/q/**)"}},
		{"no folder above the project", nil, query("Read", read("~/x")), []string{"exact session Read(/home/u/x)"}},
		{"no folder of settings", nil, query("Read", read("~/.config/git/x")), []string{"exact session Read(/home/u/.config/git/x)"}},
		{"a host", nil, query("WebFetch", network("https://x.org/a")), []string{"exact session WebFetch(domain:x.org)"}},
		{"a tool", nil, query("mcp__a__b", invoke("mcp__a__b", umpire.Medium)), []string{"tool project mcp__a__b"}},
		{"a secret is for the person", nil, query("Read", read(".env")), []string{"exact global Read(.env)"}},
		{"none for a missing sandbox", nil, Query{Call: umpire.Call{Tool: "Bash"}, Facts: umpire.Facts{Accesses: []umpire.Access{exec("make", umpire.Medium)}}, Conditions: Conditions{Sandbox: Sandbox{Missing: "x"}}}, nil},
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
				text := string(s.Width) + " " + s.Scope.String() + " " + FormatShort(s.Rule())
				if s.Cap != (umpire.Cap{}) {
					text += " " + s.MaxConsequence.String() + " " + string(s.Options)
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// known returns a reversible command that a table knows.
func known(table, line string) umpire.Access {
	a := exec(line, umpire.Medium)
	a.Table, a.Consequence, a.Base = table, umpire.Reversible, len(strings.Fields(table))
	return a
}

func withExtra(option string, a umpire.Access) umpire.Access {
	a.Extras = []string{option}
	return a
}

func outward(a umpire.Access) umpire.Access {
	a.Consequence = umpire.Outward
	return a
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
