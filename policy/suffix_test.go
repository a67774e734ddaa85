package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/shell"
)

func TestNormalizeSuffixes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		in, want []string
	}{
		{"S-14 none", nil, []string{}},
		{"S-17 lower case", []string{".MD"}, []string{".md"}},
		{"S-18 trim", []string{" .md "}, []string{".md"}},
		{"S-19 dot", []string{"md"}, []string{".md"}},
		{"S-20 doubles", []string{"md", ".MD", ".md"}, []string{".md"}},
		{"S-21 blank", []string{"", "  ", ".md"}, []string{".md"}},
		{"S-22 single dot", []string{".", ".md"}, []string{".md"}},
		{"S-23 empty after", []string{" . ", ".md"}, []string{".md"}},
		{"S-24 all invalid", []string{".", " "}, []string{}},
		{"a pattern for a suffix", []string{"*.RS", " *.go"}, []string{".rs", ".go"}},
		{"a pattern for no suffix", []string{"*.", "*", "*.*"}, []string{".*.", ".*", ".*"}[:2]},
		{"order stays", []string{"py", "md"}, []string{".py", ".md"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := NormalizeSuffixes(tt.in); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestFitsNoFile(t *testing.T) {
	t.Parallel()
	for suffix, want := range map[string]bool{".md": false, ".env": false, ".tar.gz": true, ".*": true, ".*.foo": true, ".md/timeline": true, ".r?": true} {
		if got := FitsNoFile(suffix); got != want {
			t.Errorf("%s: %v", suffix, got)
		}
	}
}

func TestSplitSuffixes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]string{
		".md, .py，java": {".md", ".py", ".java"},
		".md,.py，java":  {".md", ".py", ".java"},
		"   ":           {},
		"，,":            {},
	} {
		if got := SplitSuffixes(in); !slices.Equal(got, want) {
			t.Errorf("SplitSuffixes(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSuffixRefusal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, path string
		allowed    []string
		shown      string // "" means edited
	}{
		{"S-54", "a.md", []string{".md"}, ""},
		{"S-55", "a.py", []string{".md"}, ".py"},
		{"S-56", "README.MD", []string{".md"}, ""},
		{"S-58", ".env", []string{".env"}, ""},
		{"S-59", ".gitignore", []string{".env"}, ".gitignore"},
		{"S-60", "LICENSE", []string{".md"}, "LICENSE"},
		{"S-61", "a.test.ts", []string{".ts"}, ""},
		{"S-62", "a.", []string{".md"}, "a."},
		{"S-28", ".config.json", []string{".json"}, ""},
		{"S-31", "LICENSE", nil, ""},
		{"S-24 all invalid", "a.py", []string{".", " "}, ""},
		{"S-25 base name only", "dir.md/a", []string{".md"}, "a"},
		{"S-42 the suffix as it is", "x/a.PY", []string{".md"}, ".PY"},
		{"a dollar is no template", "a.$1", []string{".md"}, ".$1"},
		{"other separator", `dir.md\a`, []string{".md"}, "a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := ""
			if tt.shown != "" {
				want = refusalOf(tt.shown)
			}
			said, refused := SuffixRefusal(tt.path, tt.allowed)
			if text := catalogue.English.Text(said); text != want || refused != (want != "") {
				t.Errorf("got %q %v, want %q", text, refused, want)
			}
		})
	}
}

// refusalOf returns the required message, letter by letter.
func refusalOf(shown string) string {
	return strings.Replace("你没有权限编辑 xxx 类型文件的权限,请注意你的任务权限范围", "xxx", shown, 1)
}

func TestSuffixRow(t *testing.T) {
	t.Parallel()
	limit := func(q Query) Query {
		q.Profile = &Profile{EditableSuffixes: []string{".md", ".py"}}
		return q
	}
	refused := want{deny, umpire.CodeSuffix, refusalOf(".java")}
	p := newPolicy(t, testOptions)
	check(t, p, limit(query(suffixEdit, write("b.java"))), refused)
	check(t, p, limit(inMode(umpire.ModeBypass, query(suffixEditSearch, write("b.java")))), refused)
	check(t, p, limit(query(suffixEdit, write("/q/b.java"))), refused) // S-13: a refused file does not prompt
	for _, tool := range []string{"Write", "Edit"} {                   // S-7, S-11: only the two tools
		check(t, p, limit(query(tool, write("b.java"))), modeAsk)
	}

	mixed := check(t, p, limit(query(suffixEdit, write("a.md"), write("b.java"), write("c.PY"))), modeAsk)
	for i, want := range []umpire.Verdict{ask, deny, ask} {
		if got := mixed.Accesses[i].Verdict; got != want {
			t.Errorf("S-63 file %d: %s, want %s", i, got, want)
		}
	}
	check(t, p, limit(query(suffixEdit, write("b.java"), write("c.rs"))), refused)

	link := write("a.md")
	link.Resolved = testRoot + "/b.java"
	check(t, p, limit(query(suffixEdit, link)), refused)

	unlisted := query(suffixEdit, write("b.java"))
	unlisted.Profile = &Profile{Tools: []string{"Read", "mcp__x__*"}, EditableSuffixes: []string{".md"}}
	check(t, p, unlisted, want{deny, umpire.CodeProfile, ""}) // S-32
	listed := query("mcp__x__y", invoke("mcp__x__y", umpire.Safe))
	listed.Profile = unlisted.Profile
	check(t, p, listed, safeAllow)
}

// TestSuffixesOfAllWrites: X-32. With all-writes the list applies to every write or delete by
// any tool; without it only the two edit tools are limited.
func TestSuffixesOfAllWrites(t *testing.T) {
	t.Parallel()
	p := newPolicy(t, testOptions)
	refusal := func(shown string) want { return want{deny, umpire.CodeSuffix, refusalOf(shown)} }
	change := func(edit func(*umpire.Access)) umpire.Access {
		a := write("a.md")
		edit(&a)
		return a
	}
	for _, tt := range []struct {
		name     string
		tool     string
		accesses []umpire.Access
		want     want
	}{
		{"Write of a listed suffix", "Write", []umpire.Access{write("a.md")}, modeAsk},
		{"Write of another", "Write", []umpire.Access{write("a.py")}, refusal(".py")},
		{"Edit of a file without one", "Edit", []umpire.Access{write("LICENSE")}, refusal("LICENSE")},
		{"a command that writes both", "Bash", []umpire.Access{write("a.md"), write("a.py")}, refusal(".py")},
		{"a command that deletes", "Bash", []umpire.Access{change(func(a *umpire.Access) {
			a.Kind, a.Target = umpire.KindDelete, testRoot+"/a.py"
		})}, refusal(".py")},
		{"a tree of any name", "Bash", []umpire.Access{change(func(a *umpire.Access) { a.Tree = true })}, refusal("a.md")},
		{"a tree of listed kinds", "Bash", []umpire.Access{change(func(a *umpire.Access) { a.Tree, a.Kinds = true, []string{".md"} })}, modeAsk},
		{"a tree of other kinds", "Bash", []umpire.Access{change(func(a *umpire.Access) { a.Tree, a.Kinds = true, []string{".md", ".go"} })}, refusal(".go")},
		{"a link that leads elsewhere", "Write", []umpire.Access{change(func(a *umpire.Access) { a.Resolved = testRoot + "/b.sh" })}, refusal(".sh")},
		{"a file of a list", suffixEdit, []umpire.Access{write("a.md"), write("a.py")}, modeAsk},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			q := query(tt.tool, tt.accesses...)
			q.Profile = &Profile{EditableSuffixes: []string{".md"}, AllWrites: true}
			check(t, p, q, tt.want)
		})
	}
	for name, a := range map[string]umpire.Access{
		"a read":      read("a.py"),
		"the nowhere": {Kind: umpire.KindWrite, Target: "/dev/null", Resolved: "/dev/null", Place: umpire.PlaceHarmless},
	} {
		q := query("Bash", a)
		q.Profile = &Profile{EditableSuffixes: []string{".md"}, AllWrites: true}
		if d := Decide(p, q); d.ReasonCode == umpire.CodeSuffix {
			t.Errorf("%s is refused for its suffix", name)
		}
	}
}

// TestTooManyPaths: a list with more files than allowed is denied as a whole, and the message
// states the limit; a list at the limit is judged file by file.
func TestTooManyPaths(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		count   int
		invalid string
	}{
		{MaxPaths, ""},
		{MaxPaths + 1, "names 1001 paths, more than 1000; split it into several calls"},
	} {
		var files strings.Builder
		for i := range tt.count {
			fmt.Fprintf(&files, `,{"path":"f%d.md","startLine":1,"endLine":1,"newContent":"x"}`, i)
		}
		call := umpire.Call{ID: "c", Tool: suffixEdit, Input: []byte(`{"filePath":[` + files.String()[1:] + `]}`)}
		facts, err := FactsOf(call, shell.Env{Dir: testRoot})
		if tt.invalid == "" {
			if err != nil || len(facts.Accesses) != tt.count {
				t.Errorf("%d files: %d accesses, %v", tt.count, len(facts.Accesses), err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tt.invalid) {
			t.Errorf("%d files: %v", tt.count, err)
		}
	}
}
