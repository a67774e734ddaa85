package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
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
		shown      string // "" is edited
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
				want = strings.Replace("你没有权限编辑 xxx 类型文件的权限,请注意你的任务权限范围", "xxx", tt.shown, 1)
			}
			text, refused := SuffixRefusal(tt.path, tt.allowed)
			if text != want || refused != (want != "") {
				t.Errorf("got %q %v, want %q", text, refused, want)
			}
		})
	}
}

func TestSuffixRow(t *testing.T) {
	t.Parallel()
	limit := func(q Query) Query {
		q.Profile = &Profile{EditableSuffixes: []string{".md", ".py"}}
		return q
	}
	refused := want{deny, umpire.CodeSuffix, suffixTextStart + ".java" + suffixTextEnd}
	p := newPolicy(t, testOptions)
	check(t, p, limit(query(suffixEdit, write("b.java"))), refused)
	check(t, p, limit(inMode(umpire.ModeBypass, query(suffixEditSearch, write("b.java")))), refused)
	check(t, p, limit(query(suffixEdit, write("/q/b.java"))), refused) // S-13: no prompt for what is refused
	for _, tool := range []string{"Write", "Edit"} {                   // S-7, S-11: nothing but the two tools
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
