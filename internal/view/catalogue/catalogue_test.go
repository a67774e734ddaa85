package catalogue

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

var (
	codeForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	verb     = regexp.MustCompile(`%(\[\d\])?[a-z]`)
)

// TestFilesFit: every line is a code with its text, in order, and every language has the
// same codes with the same arguments.
func TestFilesFit(t *testing.T) {
	t.Parallel()
	taken := map[string]int{}
	for _, language := range []Language{English, Chinese} {
		before, count := "", 0
		for line := range strings.Lines(language.lines()) {
			code, text, found := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			if !found || text == "" || !codeForm.MatchString(code) || strings.Contains(text, "\t") {
				t.Errorf("%q is not a code and its text", line)
			}
			if code <= before {
				t.Errorf("%q stands after %q", code, before)
			}
			before = code
			count++
			args := len(verb.FindAllString(text, -1))
			if strings.Count(text, "%") != args || strings.ContainsAny(verb.ReplaceAllStringFunc(text, kindOf), "\x00") {
				t.Errorf("%s takes something else than %%s and %%q: %q", code, text)
			}
			if language == English {
				taken[code] = args
			} else if want, known := taken[code]; !known || want != args {
				t.Errorf("%s takes %d arguments, and the English text %d (known: %t)", code, args, want, known)
			}
			if got := language.Text(umpire.Phrase(code)); got != text {
				t.Errorf("%s is looked up as %q", code, got)
			}
		}
		if count != len(taken) || count < 1000 {
			t.Errorf("language %d has %d texts, English %d", language, count, len(taken))
		}
	}
}

// kindOf marks a verb that is not one of those that texts may have.
func kindOf(verb string) string {
	if verb[len(verb)-1] == 's' || verb[len(verb)-1] == 'q' {
		return ""
	}
	return "\x00"
}

// Codes are said in fields of the tables, by variables, and by arguments of these functions.
var (
	saidIn = []string{
		"why", "doubt", "steered", "problem", "odd", "says", "Says", "Why", "Doubt", "Reason", "Problem", "Detail", "Missing",
	}
	saidBy = map[string]int{
		"Say": 0, "raise": 1, "raiseTo": 2, "become": 1, "doubt": 1, "harm": 2, "network": 1, "visit": 2, "writesFile": 1,
		"runsCommand": 1, "builtin": 1, "describes": 0, "onlyShows": 0, "onlyReads": 0, "limit": 0, "fail": 0, "askSecret": 0,
		"one": 3, "deny": 1, "notice": 0,
	}
	// made are the beginnings and ends of codes that are put together.
	made = []string{"class-", "s-it"}
)

// TestCodesAreUsed reads the sources for the codes that they say: each has a text, and each
// text is said somewhere.
func TestCodesAreUsed(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	root := filepath.Join("..", "..", "..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(name, ".") && path != root:
			return filepath.SkipDir
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			return codesIn(t, path, found)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(english) {
		code, _, _ := strings.Cut(line, "\t")
		part := func(part string) bool { return strings.HasPrefix(code, part) || strings.HasSuffix(code, part) }
		if !found[code] && !slices.ContainsFunc(made, part) {
			t.Errorf("nothing says %q", code)
		}
	}
}

// codesIn notes every literal of a source file, and complains about codes without a text.
func codesIn(t *testing.T, path string, found map[string]bool) error {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for node := range ast.Preorder(file) {
		if literal, is := node.(*ast.BasicLit); is && literal.Kind == token.STRING {
			text, _ := strconv.Unquote(literal.Value)
			found[text] = true
		}
		for _, said := range said(node) {
			literal, is := said.(*ast.BasicLit)
			if !is || literal.Kind != token.STRING {
				continue
			}
			code, _ := strconv.Unquote(literal.Value)
			if _, known := findText(english, code); !known && codeForm.MatchString(code) && strings.Contains(code, "-") {
				t.Errorf("%s: %q has no text", fset.Position(said.Pos()), code)
			}
		}
	}
	return nil
}

// said are the expressions of a node that may be codes.
func said(node ast.Node) (all []ast.Expr) {
	switch node := node.(type) {
	case *ast.KeyValueExpr:
		if key, is := node.Key.(*ast.Ident); is && slices.Contains(saidIn, key.Name) {
			return []ast.Expr{node.Value}
		}
	case *ast.AssignStmt:
		for i, to := range node.Lhs {
			if field, is := to.(*ast.SelectorExpr); is && slices.Contains(saidIn, field.Sel.Name) && len(node.Rhs) == len(node.Lhs) {
				all = append(all, node.Rhs[i])
			}
		}
	case *ast.CallExpr:
		name := ""
		switch by := node.Fun.(type) {
		case *ast.SelectorExpr:
			name = by.Sel.Name
		case *ast.Ident:
			name = by.Name
		}
		if at, says := saidBy[name]; says && at < len(node.Args) {
			return []ast.Expr{node.Args[at]}
		}
	}
	return all
}

func TestText(t *testing.T) {
	t.Parallel()
	rule := umpire.Say("denied-by-rule", "no-policy") // a name stays as it is
	for _, tt := range []struct {
		said             umpire.Phrase
		english, chinese string
	}{
		{"", "", ""},
		{"tool-is-safe", "Tool classified as safe", "该工具属于安全类"},
		{rule, "Denied by rule: no-policy", "被规则拒绝：no-policy"},
		{umpire.Say("cannot-be-judged", rule), "Cannot be judged: Denied by rule: no-policy", "无法判定：被规则拒绝：no-policy"},
		{umpire.Say("tool-requires-approval", `"W"`, umpire.Phrase("class-moderate")),
			`Tool "\"W\"" requires approval (moderate)`, `工具 "\"W\"" 需要批准（中等）`},
		{umpire.Say("not-parsed", umpire.Phrase("nested-too-deeply")), "not parsed: nested too deeply", "无法解析：嵌套过深"},
		{umpire.Say("and-also", "x", umpire.Verbatim("100%s")), "x; 100%s", "x；100%s"},
		{umpire.Verbatim("tool-is-safe"), "tool-is-safe", "tool-is-safe"},
		{"Tool classified as safe", "Tool classified as safe", "Tool classified as safe"}, // of an older version
		{umpire.Say("of-a-later-version", "x"), `of-a-later-version("x")`, `of-a-later-version("x")`},
	} {
		if got := English.Text(tt.said); got != tt.english {
			t.Errorf("%q is %q, want %q", string(tt.said), got, tt.english)
		}
		if got := Chinese.Text(tt.said); got != tt.chinese {
			t.Errorf("%q is %q, want %q", string(tt.said), got, tt.chinese)
		}
	}
}

// TestIn: what goes out says texts, and what it was made of stays as it was.
func TestIn(t *testing.T) {
	t.Parallel()
	type outer struct {
		Decision *umpire.Decision          `json:"decision"`
		Events   map[string][]umpire.Event `json:"events"`
		Any      any                       `json:"any"`
		Nothing  *umpire.Event             `json:"nothing"`
	}
	safe := umpire.Phrase("tool-is-safe")
	value := outer{
		Decision: &umpire.Decision{Reason: safe, Reasons: []umpire.Reason{{Text: safe}}, Accesses: []umpire.Access{{Doubt: safe}}},
		Events:   map[string][]umpire.Event{"a": {{Reason: safe, Blocked: &umpire.Blocked{Detail: safe}}}},
		Any:      umpire.Reason{Text: safe},
	}
	before, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(In(English, value))
	if err != nil || strings.Contains(string(got), string(safe)) || strings.Count(string(got), "Tool classified as safe") != 6 {
		t.Errorf("%v %s", err, got)
	}
	if after, _ := json.Marshal(value); string(after) != string(before) {
		t.Errorf("the value became %s", after)
	}
}

// TestInEvent: what a batch's submission says of its calls is in its data, whose form stays.
func TestInEvent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind       umpire.EventKind
		data, want string
	}{
		{umpire.EventBatchSubmitted,
			`{"lane":"l","turn":4,"calls":[{"call_id":"c","tool":"Bash","args_hash":"h","background":true,` +
				`"effect":"pure","state":"asked","verdict":"ask","reason":"outside-the-project(\"/a\")","reason_code":"mode",` +
				`"took_us":7},{"call_id":"d","tool":"Read","args_hash":"h","state":"approved","verdict":"allow"}]}`,
			`{"lane":"l","turn":4,"calls":[{"call_id":"c","tool":"Bash","args_hash":"h","background":true,` +
				`"effect":"pure","state":"asked","verdict":"ask","reason":"Path is outside the project: \"/a\"","reason_code":"mode",` +
				`"took_us":7},{"call_id":"d","tool":"Read","args_hash":"h","state":"approved","verdict":"allow"}]}`},
		{umpire.EventBatchSubmitted, `{"of":"another form"}`, `{"of":"another form"}`},
		{umpire.EventBatchSubmitted, `{"calls":[{"reason":1}]}`, `{"calls":[{"reason":1}]}`},
		{umpire.EventModeChanged, `{"reason":"tool-is-safe"}`, `{"reason":"tool-is-safe"}`},
	} {
		e := umpire.Event{Kind: tt.kind, Data: json.RawMessage(tt.data)}
		if got := In(English, []umpire.Event{e}); string(got[0].Data) != tt.want || string(e.Data) != tt.data {
			t.Errorf("%s became\n%s, want\n%s", tt.data, got[0].Data, tt.want)
		}
	}
}

func BenchmarkText(b *testing.B) {
	said := umpire.Say("cannot-be-judged", umpire.Say("unknown-program", "nosuch"))
	b.ReportAllocs()
	for b.Loop() {
		English.Text(said)
	}
}
