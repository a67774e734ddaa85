package task

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

const example = `task: Fix the login test
for: 2h
may:
   5x  none        Bash(go test:*)
  20x  reversible  Edit(src/**)
   1x  outward     Bash(=git push origin fix)
`

// TestParse: the text that is read and written is the same, whatever remarks and blanks it came with.
func TestParse(t *testing.T) {
	t.Parallel()
	spaced := "# drafted\n\n task:  Fix the login test \nfor: 120m\nmay:\n" +
		"5x none Bash(go test:*)\n# and\n\t20x   reversible Edit(src/**)\n1x outward Bash(=git push origin fix)\r\n"
	for _, text := range []string{example, spaced} {
		got, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(example, got.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	got, _ := Parse(example)
	if got.For != 2*time.Hour || got.Most() != umpire.Outward || len(got.Lines) != 3 {
		t.Errorf("%+v", got)
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	lines := func(l string) string { return "task: T\nfor: 1h\nmay:\n" + l + "\n" }
	for text, want := range map[string]string{
		"":                           `the line "task: TITLE" is missing`,
		"task: T\nmay:\n":            `the line "for: TIME"`,
		"task: T\nfor: 1h\n":         "no line below",
		"task: T\nfor: 25h":          "line 2: for \"25h\"",
		"task: T\nfor: 90s":          "line 2: for \"90s\"",
		"task: T\ntask: U":           "line 2: it is given twice",
		"task:":                      "line 1: the title is empty",
		"task: a\u202eb":             "line 1: the title has characters",
		"hello":                      `line 1: "hello": want task:, for: or may:`,
		lines("Edit(**)"):            "line 4: \"Edit(**)\": want TIMES CONSEQUENCE RULE",
		lines("2x Edit(**)"):         "line 4: \"2x Edit(**)\": want TIMES",
		lines("2x bad Edit(**)"):     `line 4: consequence "bad"`,
		lines("0x none Edit(**)"):    "line 4: 0x: want between 1 and 1000",
		lines("1001x none Edit(**)"): "line 4: 1001x",
		lines("1x none Bash"):        "line 4: Bash allows every use",
		lines("1x none Bash(*)"):     "line 4: Bash(*) allows every use",
		lines("1x none Edit()"):      "line 4: rule",
		lines("1x none Edit(a)\n2x lost Edit(a)"):  "line 5: Edit(a) is given twice",
		lines("1x none Bash(=echo \u200b)"):        "line 4: the rule has characters",
		lines(strings.Repeat("x", MaxText)):        "want at most",
		"task: " + strings.Repeat("x", maxTitle+1): "line 1: the title has more than",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
}

// TestCheck: a line that allows any command, or a folder that holds what nobody may be granted, is refused.
func TestCheck(t *testing.T) {
	t.Parallel()
	o := policy.Options{Root: "/home/me/p", Home: "/home/me", StateDir: "/home/me/.umpire"}
	for rule, ok := range map[string]bool{
		"Edit(src/**)": true, "Edit(**)": true, "Bash(go test:*)": true, "Bash(=bash deploy.sh)": true,
		"Read(/opt/data/**)": true, "Read(~/notes.txt)": true, "WebFetch(domain:example.com)": true, "mcp__x__y": true,
		"Bash(bash:*)": false, "Bash(git:*)": false, "Bash(python3 -c:*)": false, "Bash(sudo:*)": false,
		"Read(/**)": false, "Read(~/**)": false, "Edit(/home/**)": false,
		"Read(/home/me/.umpire/**)": false,
	} {
		made, err := Parse("task: T\nfor: 1h\nmay:\n1x none " + rule)
		if err != nil {
			t.Fatal(err)
		}
		if err := made.checkReach(o); (err == nil) != ok {
			t.Errorf("%s: %v", rule, err)
		}
	}
}

// TestBinds: a grant counts only if a line of its text stands for it, under an id of that text.
func TestBinds(t *testing.T) {
	t.Parallel()
	made, err := Parse(example)
	if err != nil {
		t.Fatal(err)
	}
	id := made.NewID("unique")
	binds := func(text string, g *umpire.Grant) bool {
		t, ok := ReadBound(text, g.Task)
		return ok && t.Binds(g)
	}
	for i := range made.Lines {
		if g := made.Lines[i].Grant(id); !made.Binds(&g) {
			t.Errorf("%s is not bound", made.Lines[i].Rule())
		}
	}
	for name, change := range map[string]func(*umpire.Grant){
		"path":        func(g *umpire.Grant) { g.Match.PathGlob = "**" },
		"tool":        func(g *umpire.Grant) { g.Tool = "Bash" },
		"consequence": func(g *umpire.Grant) { g.MaxConsequence = umpire.Lost },
		"options":     func(g *umpire.Grant) { g.Options = umpire.OptionsShown },
		"exact":       func(g *umpire.Grant) { g.Exact = "ls" },
		"scope":       func(g *umpire.Grant) { g.Scope = umpire.ScopeGlobal },
		"id":          func(g *umpire.Grant) { g.Task = "k00000000unique" },
	} {
		g := made.Lines[1].Grant(id)
		if change(&g); binds(example, &g) {
			t.Errorf("another %s is bound", name)
		}
	}
	g := made.Lines[1].Grant(id)
	for _, text := range []string{"", "# remark\n" + example, strings.Replace(example, "20x", "30x", 1)} {
		if binds(text, &g) {
			t.Errorf("the grant is bound to %q", text)
		}
	}
}

func TestDraft(t *testing.T) {
	t.Parallel()
	suggest := func(width umpire.Width, rule string) umpire.Suggestion {
		r, err := policy.ParseShort(rule)
		if err != nil {
			t.Fatal(err)
		}
		return umpire.Suggestion{Tool: r.Tool, Match: r.Match, Width: width}
	}
	exact, sub, folder := umpire.WidthExact, umpire.WidthSubcommand, umpire.WidthFolder
	questions := []Question{
		{Most: umpire.Reversible, Suggestions: []umpire.Suggestion{
			suggest(exact, "Edit(src/a.go)"), suggest(folder, "Edit(src/**)"), suggest(umpire.WidthTool, "Edit(**)")}},
		{Most: umpire.Harmless, Suggestions: []umpire.Suggestion{suggest(exact, "Edit(src/b.go)"), suggest(folder, "Edit(src/**)")}},
		{Most: umpire.Reversible, Suggestions: []umpire.Suggestion{
			suggest(exact, "Bash(=npm test -- x)"), suggest(sub, "Bash(npm test:*)")}},
		{Most: umpire.Outward, Times: 2, Suggestions: []umpire.Suggestion{
			suggest(exact, "Bash(=git push origin fix)"), suggest(sub, "Bash(git push origin:*)")}},
		{Most: umpire.Lost},
		{Most: umpire.Reversible, Suggestions: []umpire.Suggestion{suggest(exact, "Bash(=mytool 'a\nb')")}},
	}
	made, left := Draft("Fix it", questions)
	want := `task: Fix it
for: 2h
may:
   5x  outward     Bash(=git push origin fix)
  20x  reversible  Bash(npm test:*)
  20x  reversible  Edit(src/**)
`
	if diff := cmp.Diff(want, made.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{4, 5}, left); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	if again, err := Parse(made.String()); err != nil || !cmp.Equal(again, made) {
		t.Errorf("%v\n%s", err, cmp.Diff(made, again))
	}
	wider, left := Widen(made, []Question{{Most: umpire.Reversible, Suggestions: []umpire.Suggestion{
		suggest(exact, "Edit(docs/a.md)"), suggest(folder, "Edit(docs/**)")}}})
	if len(left) != 0 || len(wider.Lines) != 4 || wider.Digest() == made.Digest() {
		t.Errorf("%v\n%s", left, wider.String())
	}
}

// FuzzParse: a text that can be read is written in one form, which reads as the same task.
func FuzzParse(f *testing.F) {
	f.Add(example)
	f.Add("task: x\nfor: 1h1m\nmay:\n1x lost Read(~/a b/**)\n#\n3x none mcp__a__b")
	f.Fuzz(func(t *testing.T, text string) {
		made, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(made.String())
		if err != nil || !cmp.Equal(made, again) || made.String() != again.String() {
			t.Errorf("%v\n%s\n%s", err, made.String(), again.String())
		}
	})
}
