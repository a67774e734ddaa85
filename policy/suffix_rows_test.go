package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

// TestRowsSuffixes decides calls of both edit tools under a profile's limit.
func TestRowsSuffixes(t *testing.T) {
	t.Parallel()
	md, three := []string{".md"}, []string{".md", ".java", ".py"}
	for _, tt := range []struct {
		name    string
		limit   []string
		path    string
		refused string // the name in the message; "" means edited
	}{
		{"S-15 a.md", md, "a.md", ""},
		{"S-15 a.py", md, "a.py", ".py"},
		{"S-15 a.mdx", md, "a.mdx", ".mdx"},
		{"S-15 amd", md, "amd", "amd"},
		{"S-16 a.md", three, "a.md", ""},
		{"S-16 A.java", three, "src/A.java", ""},
		{"S-16 a.py", three, "a.py", ""},
		{"S-16 a.go", three, "a.go", ".go"},
		{"S-16 a.pyc", three, "a.pyc", ".pyc"},
		{"S-26 a.test.ts is .ts", []string{".ts"}, "a.test.ts", ""},
		{"S-26 a.test.ts is not .test.ts", []string{".test.ts"}, "a.test.ts", ".ts"},
		{"S-26 a.test.ts is not .test", []string{".test"}, "a.test.ts", ".ts"},
		{"S-27 .env is .env", []string{".env"}, ".env", ""},
		{"S-27 S-43 .env is nothing else", md, ".env", ".env"},
		{"S-27 a.env is .env too", []string{".env"}, "a.env", ""},
		{"S-29 a. has none", md, "a.", "a."},
		{"S-29 a.. has none", md, "a..", "a.."},
		{"S-29 a.md. has none", md, "a.md.", "a.md."},
		{"S-30 S-44 LICENSE", md, "LICENSE", "LICENSE"},
		{"S-30 the folder does not count", md, "notes.md/LICENSE", "LICENSE"},
		{"S-33 edits normally", md, "doc/a.md", ""},
		{"S-34 is not run", md, "doc/a.rs", ".rs"},
		{"S-35 shows the suffix as written", md, "a.Py", ".Py"},
		{"S-57 of three forms", []string{"md", ".MD", ".md"}, "a.md", ""},
		{"S-57 and nothing else", []string{"md", ".MD", ".md"}, "a.txt", ".txt"},
		{"S-64 typed", SplitSuffixes(".md, .py，java"), "A.java", ""},
		{"S-64 typed, another", SplitSuffixes(".md, .py，java"), "a.js", ".js"},
		{"S-65 typed blanks limit nothing", SplitSuffixes("   "), "LICENSE", ""},
	} {
		for _, tool := range []string{suffixEdit, suffixEditSearch} {
			t.Run(tt.name+", "+tool, func(t *testing.T) {
				t.Parallel()
				q := query(tool, write(tt.path))
				q.Profile = &Profile{EditableSuffixes: tt.limit}
				w := ruleAllow
				if tt.refused != "" {
					text := strings.Replace("你没有权限编辑 xxx 类型文件的权限,请注意你的任务权限范围", "xxx", tt.refused, 1)
					w = want{deny, umpire.CodeSuffix, text}
				}
				check(t, newPolicy(t, testOptions, "allow Edit"), q, w)
			})
		}
	}
}

func TestRowsSuffixLists(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		got, want []string
	}{
		{"S-57", NormalizeSuffixes([]string{"md", ".MD", ".md"}), []string{".md"}},
		{"S-64", SplitSuffixes(".md, .py，java"), []string{".md", ".py", ".java"}},
		{"S-65", SplitSuffixes("   "), []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if !slices.Equal(tt.got, tt.want) {
				t.Errorf("got %q, want %q", tt.got, tt.want)
			}
		})
	}
}

// A list with some files refused, by suffix or by a rule, is decided by the others. Each file
// keeps its own verdict.
func TestRowsPartlyRefused(t *testing.T) {
	t.Parallel()
	free, refused := write("a.md"), []umpire.Access{write("b.py"), write("secret/c.md"), write("secret/d.py")}
	for _, tool := range []string{suffixEdit, suffixEditSearch, "MultiEdit"} {
		for _, bad := range refused {
			q := query(tool, free, bad)
			q.Profile = &Profile{EditableSuffixes: []string{".md"}, AllWrites: true}
			d := Decide(newPolicy(t, testOptions, "allow Edit", "deny Edit(secret/**)"), q)
			want := umpire.Deny
			if EditsEach(tool) {
				want = umpire.Allow
			}
			if d.Verdict != want || d.Accesses[0].Verdict != umpire.Allow || d.Accesses[1].Verdict != umpire.Deny {
				t.Errorf("%s of %s: %s, files %s and %s", tool, bad.Target, d.Verdict, d.Accesses[0].Verdict, d.Accesses[1].Verdict)
			}
			q = query(tool, bad, bad)
			q.Profile = &Profile{EditableSuffixes: []string{".md"}, AllWrites: true}
			if d := Decide(newPolicy(t, testOptions, "allow Edit", "deny Edit(secret/**)"), q); d.Verdict != umpire.Deny {
				t.Errorf("%s of nothing else than %s: %s", tool, bad.Target, d.Verdict)
			}
		}
	}
}
