package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/umpirehq/umpire"
)

func TestParseShort(t *testing.T) {
	t.Parallel()
	for short, want := range map[string]umpire.Rule{
		"Bash(npm test:*)":                 {Tool: "Bash", Match: umpire.Match{CommandPrefix: "npm test"}},
		"Bash(npm test)":                   {Tool: "Bash", Match: umpire.Match{CommandPrefix: "npm test"}},
		"Bash(=git push origin main)":      {Tool: "Bash", Match: umpire.Match{Command: "git push origin main"}},
		"Bash(=echo 'a  b' :*)":            {Tool: "Bash", Match: umpire.Match{Command: "echo 'a  b' :*"}},
		"Bash(command:=x:*)":               {Tool: "Bash", Match: umpire.Match{CommandPrefix: "=x"}},
		"Edit(=x)":                         {Tool: "Edit", Match: umpire.Match{PathGlob: "=x"}},
		"Bash(rm *)":                       {Tool: "Bash", Match: umpire.Match{CommandPrefix: "rm"}},
		"Bash(rm *:*)":                     {Tool: "Bash", Match: umpire.Match{CommandPrefix: "rm *"}},
		"Bash(*)":                          {Tool: "Bash"},
		"Bash(echo (a):*)":                 {Tool: "Bash", Match: umpire.Match{CommandPrefix: "echo (a)"}},
		"Read(~/go/pkg/mod/**)":            {Tool: "Read", Match: umpire.Match{PathGlob: "~/go/pkg/mod/**"}},
		"WebFetch(domain:pkg.go.dev)":      {Tool: "WebFetch", Match: umpire.Match{Domain: "pkg.go.dev"}},
		"mcp__github__*":                   {Tool: "mcp__github__*"},
		" Edit ":                           {Tool: "Edit"},
		"*":                                {Tool: "*"},
		"*(command:rm -rf:*)":              {Tool: "*", Match: umpire.Match{CommandPrefix: "rm -rf"}},
		"Edit(path:domain:x)":              {Tool: "Edit", Match: umpire.Match{PathGlob: "domain:x"}},
		"GitCommit(command:git commit -a)": {Tool: "GitCommit", Match: umpire.Match{CommandPrefix: "git commit -a"}},
	} {
		got, err := ParseShort(short)
		if err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("ParseShort(%q): %v %s", short, err, cmp.Diff(want, got))
		}
	}
	for _, short := range []string{
		"", "Bash(", "Bash()", "(x)", "Bash(npm test", "Bash('open)", "Read(a[)", "Read({a)", "Read([Z-a])", "Read({a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b})",
		"Bash(path:x)", "Bash(=)", "Bash(= )", "Bash(='x)", "WebFetch(x)", "WebFetch(domain:)", "WebFetch(domain:a/b)", "Read(domain:x)", "Edit(command:x)", "a b", "Read(../x)", "Read(~root/x)",
	} {
		if r, err := ParseShort(short); err == nil {
			t.Errorf("ParseShort(%q) = %+v, want an error", short, r)
		}
	}
}

// genRule generates valid rules that are likely to match the accesses of genAccess.
func genRule(t *rapid.T) umpire.Rule {
	r := umpire.Rule{
		ID: umpire.RuleID(rapid.StringMatching(`[a-z]{1,6}`).Draw(t, "id")), Action: rapid.SampledFrom([]umpire.Verdict{deny, ask, allow}).Draw(t, "action"),
		Source: rapid.SampledFrom([]umpire.Source{umpire.SourceManaged, umpire.SourceProject, umpire.SourceUser, umpire.SourceFlag}).Draw(t, "source"),
	}
	switch rapid.IntRange(0, 4).Draw(t, "sort") {
	case 0:
		r.Tool = rapid.SampledFrom([]string{"Bash", "*", "Read", "Edit", "Write", "Delete", "GitPush", "mcp__a__*", "mcp__a", "WebFetch"}).Draw(t, "tool")
	case 1:
		r.Tool = rapid.SampledFrom([]string{"Bash", "*"}).Draw(t, "tool")
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"npm", "test", "git", "push", "a b", "it's", `"`, ":*", "-x", ""}), 1, 3).Draw(t, "words")
		r.Match.CommandPrefix = JoinPrefix(words)
	case 2:
		r.Tool = rapid.SampledFrom([]string{"Read", "Edit", "Write", "Delete", "Grep", "*", "mcp__a__*"}).Draw(t, "tool")
		r.Match.PathGlob = genGlob(t)
	case 3:
		r.Tool = "WebFetch"
		r.Match.Domain = rapid.SampledFrom([]string{"x.org", "*.x.org", "*", "a.x.org"}).Draw(t, "domain")
	case 4:
		r.Tool = "Bash"
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"npm", "test", "git", "push", "a b", "it's", `"`, ":*", "-x", "", umpire.PatternMark + "*.go", "*.go"}), 1, 3).Draw(t, "line")
		r.Match.Command = joinLine(words)
	}
	return r
}

func genGlob(t *rapid.T) string {
	segment := rapid.SampledFrom([]string{"src", "a", "b.ts", "*.ts", "**", "*", "?", "[ab]", "{a,src}", "B.ts", ".env", `\*`, "(x)"})
	prefix := rapid.SampledFrom([]string{"", "", "/", "~/", "domain:"}).Draw(t, "prefix")
	glob := prefix
	for i, text := range rapid.SliceOfN(segment, 1, 4).Draw(t, "segments") {
		if i > 0 {
			glob += "/"
		}
		glob += text
	}
	return glob
}

func TestShortFormRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := genRule(t)
		if Validate(r) != nil {
			t.Skip("not a valid rule")
		}
		got, err := ParseShort(FormatShort(r))
		if want := (umpire.Rule{Tool: r.Tool, Match: r.Match}); err != nil || cmp.Diff(want, got) != "" {
			t.Fatalf("%q: %v %s", FormatShort(r), err, cmp.Diff(want, got))
		}
	})
}

func TestPrefixRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.String(), 1, 5).Draw(t, "words")
		got, err := SplitPrefix(JoinPrefix(words))
		if err != nil || cmp.Diff(words, got) != "" {
			t.Fatalf("%q: %v %s", JoinPrefix(words), err, cmp.Diff(words, got))
		}
	})
}

func TestLineRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{umpire.PatternMark + "*.go", "*.go", "'", "", "a b*"}))
		line := rapid.SliceOfN(word, 1, 5).Draw(t, "line")
		text := joinLine(line)
		if text == "" {
			return
		}
		got, err := splitLine(text)
		if err != nil || cmp.Diff(line, got) != "" {
			t.Fatalf("%q: %v %s", text, err, cmp.Diff(line, got))
		}
	})
}

func FuzzParseShort(f *testing.F) {
	for _, seed := range []string{"Bash(npm test:*)", "Read(~/x/**)", "WebFetch(domain:*.x)", "*", "a(b(c))", "Bash(:*:*)", "Bash(=git push)", "Bash(=:*)", "Bash(command:=x)", "Bash(=a '*' *.go)", `Read({a,[{]}\{)`, "Edit(path:path:x)", "0(pat\x7f:0)", "0({})", "Read({,a})"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, short string) {
		r, err := ParseShort(short)
		if err != nil {
			return
		}
		again, err := ParseShort(FormatShort(r))
		if err != nil || cmp.Diff(r, again) != "" {
			t.Fatalf("%q reads as %+v, prints as %q, which reads as %+v (%v)", short, r, FormatShort(r), again, err)
		}
		if _, err := New([]umpire.Rule{r}, testOptions); err != nil {
			t.Fatalf("%q is valid but no policy: %v", short, err)
		}
	})
}
