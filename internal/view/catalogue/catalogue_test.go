package catalogue

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unicode"

	"github.com/umpirehq/umpire"
)

var (
	codeForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	verb     = regexp.MustCompile(`%[-+ #0-9.]*(\[\d\])?[a-zA-Z]`)
)

// TestCodesFit: every line is a code of older versions with its text, in order.
func TestCodesFit(t *testing.T) {
	t.Parallel()
	before, count := "", 0
	for line := range strings.Lines(codes) {
		code, text, found := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !found || text == "" || !codeForm.MatchString(code) || strings.Contains(text, "\t") {
			t.Errorf("%q is not a code and its text", line)
		}
		if code <= before {
			t.Errorf("%q stands after %q", code, before)
		}
		before = code
		count++
		if got := English.Text(umpire.Phrase(code)); got != text {
			t.Errorf("%s is looked up as %q", code, got)
		}
	}
	if count != 1468 {
		t.Errorf("%d codes: the table is frozen", count)
	}
}

// TestLanguagesFit: every record is a text with its translation, which takes the same
// arguments, and nothing that the core says has none.
func TestLanguagesFit(t *testing.T) {
	t.Parallel()
	for _, tag := range Tags()[1:] {
		file, err := languages.Open("languages/" + tag + ".tsv")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		reader := csv.NewReader(file)
		reader.Comma, reader.Comment, reader.FieldsPerRecord = '\t', '#', 2
		records, err := reader.ReadAll()
		if err != nil {
			t.Errorf("%s: %v", tag, err)
		}
		language, seen := Find(tag), map[string]bool{}
		for _, record := range records {
			text, other := record[0], record[1]
			if text == "" || other == "" || language.Of(text) != other {
				t.Errorf("%s: %q is %q, and looked up as %q", tag, text, other, language.Of(text))
			}
			if seen[text] {
				t.Errorf("%s: %q is there twice", tag, text)
			}
			seen[text] = true
			if want, got := argsOf(text), argsOf(other); !maps.Equal(want, got) {
				t.Errorf("%s: %q takes %v, and %q takes %v", tag, other, got, text, want)
			}
		}
		for line := range strings.Lines(codes) {
			if _, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); !seen[text] {
				t.Errorf("%s: %q has no translation", tag, text)
			}
		}
	}
}

// argsOf are the verbs of a text by the number of the argument that they show.
func argsOf(text string) map[int]string {
	args, at := map[int]string{}, 0
	for _, found := range verb.FindAllStringSubmatch(text, -1) {
		at++
		if found[1] != "" {
			at = int(found[1][1] - '0')
		}
		args[at] = strings.Replace(found[0], found[1], "", 1)
	}
	return args
}

func TestFind(t *testing.T) {
	t.Parallel()
	for locale, want := range map[string]string{
		"": "row", "C": "row", "C.UTF-8": "row", "en_US.UTF-8": "row", "tlh": "row", "english": "row", "z": "row", "../zh": "row",
		"zh": "行", "zh-CN": "行", "zh_CN.UTF-8": "行", "ZH_TW": "行", "zh-Hans-CN": "行", "zh_CN@pinyin": "行",
	} {
		if got := Find(locale).Of("row"); got != want {
			t.Errorf("in %q it is %q, want %q", locale, got, want)
		}
	}
	if got := Tags(); got[0] != "en" || !slices.Contains(got, "zh-CN") {
		t.Errorf("the tags are %q", got)
	}
}

// Phrases are said in fields of the tables, by variables, and by arguments of these functions.
var (
	saidIn = []string{
		"why", "doubt", "steered", "problem", "odd", "says", "Says", "Why", "Doubt", "Reason", "Problem", "Detail", "Missing",
	}
	saidBy = map[string]int{
		"Say": 0, "raise": 1, "raiseTo": 2, "become": 1, "doubt": 1, "harm": 2, "network": 1, "visit": 2, "writesFile": 1,
		"runsCommand": 1, "builtin": 1, "describes": 0, "onlyShows": 0, "onlyReads": 0, "limit": 0, "fail": 0, "askSecret": 0,
		"one": 3, "deny": 1, "notice": 0,
	}
)

// core are the packages whose texts in these places are phrases.
var core = regexp.MustCompile(`^(shell|policy|internal/(gate|judge|sensitive|undo))/`)

// otherLanguages returns all languages but English, by tag.
func otherLanguages() map[string]*Language {
	others := map[string]*Language{}
	for _, tag := range Tags()[1:] {
		others[tag] = Find(tag)
	}
	return others
}

// source is the program's own, by the paths of its files.
var source = sync.OnceValues(func() (map[string]*ast.File, error) {
	files, root := map[string]*ast.File{}, filepath.Join("..", "..", "..")
	return files, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(name, ".") && path != root:
			return filepath.SkipDir
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			files[filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))] = file
			return err
		}
		return nil
	})
})

func readSource(t *testing.T) map[string]*ast.File {
	t.Helper()
	files, err := source()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// addForeignTexts adds what the libraries and systems say that the program runs on.
func addForeignTexts(found map[string]bool) {
	for number := range syscall.Errno(200) {
		found[number.Error()] = true
	}
	for _, err := range []error{
		context.Canceled, context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF, fs.ErrExist, fs.ErrNotExist,
		json.Unmarshal([]byte("{"), new(any)),
	} {
		found[err.Error()] = true
	}
	for _, op := range []string{"lstat", "mkdir", "open", "read", "remove", "stat", "write"} {
		found[op+" %s: %w"] = true
	}
}

// TestTextsAreUsed reads the sources for what they say: each phrase and each translated text is said somewhere,
// and each phrase is translated.
func TestTextsAreUsed(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	others := otherLanguages()
	for path, file := range readSource(t) {
		collectTexts(t, path, file, found, others)
	}
	addForeignTexts(found)
	for line := range strings.Lines(codes) {
		_, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		found[text] = true
	}
	for tag, language := range others {
		for text := range language.texts() {
			if !found[text] && !isWord(text, found) {
				t.Errorf("%s: nothing says %q", tag, text)
			}
		}
	}
}

// isWord reports whether a text is the name of a set and one of its words.
func isWord(text string, found map[string]bool) bool {
	for at := range len(text) {
		if text[at] == ' ' && found[text[:at+1]] && found[text[at+1:]] {
			return true
		}
	}
	return false
}

// collectTexts notes every text of a source file, and complains about phrases without a translation.
func collectTexts(t *testing.T, path string, file *ast.File, found map[string]bool, others map[string]*Language) {
	t.Helper()
	for node := range ast.Preorder(file) {
		if expr, is := node.(ast.Expr); is {
			if text, is := constant(expr); is {
				found[text] = true
			}
		}
		if call, is := node.(*ast.CallExpr); is && nameOf(call.Fun) == "Word" {
			set, _ := constant(call.Args[0])
			found[set+" "] = true
		}
		for _, said := range said(node) {
			text, is := constant(said)
			if !is || !strings.Contains(text, " ") || !hasLetters(text) || !core.MatchString(path) {
				continue
			}
			for tag, language := range others {
				if _, known := language.lookUp(text); !known {
					t.Errorf("%s: %q has no translation in %s", path, text, tag)
				}
			}
		}
	}
}

var (
	// makers of errors, with the place of the format among their arguments.
	makers = map[string]int{"Errorf": 0, "New": 0, "Usage": 1, "Refused": 1, "server.invalid": 0, "gate.invalid": 1, "store.conflict": 0, "policy.fail": 1}
	// apart are the packages whose errors are for models, tests, logs and who measures, and stay English.
	apart = regexp.MustCompile(`^(bench|cmd|internal/(api|metrics|test|tool|view|llm/llmtest|mcp/mcptest|notice/noticetest|store/storetest))/`)
	// unseen are errors that nobody is shown.
	unseen = []string{"made to fail"}
)

// TestErrorsAreTranslated reads the sources for what errors say.
func TestErrorsAreTranslated(t *testing.T) {
	t.Parallel()
	count, others := 0, otherLanguages()
	for path, file := range readSource(t) {
		if apart.MatchString(path) {
			continue
		}
		for node := range ast.Preorder(file) {
			call, is := node.(*ast.CallExpr)
			if !is {
				continue
			}
			name := nameOf(call.Fun)
			if from, is := call.Fun.(*ast.SelectorExpr); is && path != "errorf.go" && path != "phrase.go" && name == "Errorf" && fmt.Sprint(from.X) == "fmt" {
				t.Errorf("%s: an error of fmt.Errorf cannot be translated: use umpire.Errorf", path)
			}
			at, makes := makers[name]
			if !makes {
				at, makes = makers[file.Name.Name+"."+name]
			}
			if !makes || at >= len(call.Args) {
				continue
			}
			text, is := constant(call.Args[at])
			if !is || !strings.Contains(text, " ") || !hasLetters(text) || slices.Contains(unseen, text) {
				continue
			}
			count++
			for tag, language := range others {
				if _, known := language.lookUp(text); !known {
					t.Errorf("%s: %q has no translation in %s", path, text, tag)
				}
			}
		}
	}
	if count < 700 {
		t.Errorf("only %d errors", count)
	}
}

// hasLetters reports whether a format says something beside its arguments.
func hasLetters(format string) bool {
	return strings.ContainsFunc(verb.ReplaceAllString(format, ""), unicode.IsLetter)
}

// constant is the text of a literal, or of several with + between them.
func constant(expr ast.Expr) (text string, is bool) {
	switch expr := expr.(type) {
	case *ast.BasicLit:
		if expr.Kind == token.STRING {
			text, err := strconv.Unquote(expr.Value)
			return text, err == nil
		}
	case *ast.BinaryExpr:
		before, is := constant(expr.X)
		after, also := constant(expr.Y)
		return before + after, is && also && expr.Op == token.ADD
	}
	return "", false
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
		if at, says := saidBy[nameOf(node.Fun)]; says && at < len(node.Args) {
			return []ast.Expr{node.Args[at]}
		}
	}
	return all
}

// nameOf is the name of what is called, without its package or receiver.
func nameOf(called ast.Expr) string {
	switch by := called.(type) {
	case *ast.SelectorExpr:
		return by.Sel.Name
	case *ast.Ident:
		return by.Name
	}
	return ""
}

// TestError: an error is translated by its format, and each error in it in turn; what it
// quotes is left alone.
func TestError(t *testing.T) {
	t.Parallel()
	zh := Find("zh")
	missing := &fs.PathError{Op: "open", Path: "/p/is missing", Err: syscall.ENOENT}
	for _, tt := range []struct {
		err     error
		chinese string
	}{
		{umpire.ErrNotFound, "没有找到"},
		{errors.New("of a library: 100%d"), "of a library: 100%d"},
		{umpire.Errorf("unknown flag: --%s", "bogus"), "未知的选项：--bogus"},
		{umpire.Errorf("rule %q: want TOOL or TOOL(MATCH)", "a: is missing"), `规则 "a: is missing"：应为 TOOL 或 TOOL(MATCH)`},
		{umpire.Errorf("script: %w", missing), "脚本：打开 /p/is missing：没有该文件或目录"},
		{fmt.Errorf("script: %w", missing), "script: 打开 /p/is missing：没有该文件或目录"},
		{errors.Join(umpire.Errorf("line %d: %w", 3, umpire.Errorf("key %q stands twice", "x")), errors.New("and: this")),
			"第 3 行：键 \"x\" 出现了两次\nand: this"},
		{umpire.Errorf("session %q is run by %s until %s at least: %w", "s1", "m:1", "noon", umpire.ErrFenced),
			`会话 "s1" 正由 m:1 运行，至少到 noon：另一个进程已接管此会话`},
		{&umpire.ResolvedError{Standing: umpire.Standing{Choice: "deny"}}, "已有回答：deny"},
	} {
		if got := zh.Error(tt.err); got != tt.chinese {
			t.Errorf("%v is\n%q, want\n%q", tt.err, got, tt.chinese)
		}
		if got, said := English.Error(tt.err), English.Text(umpire.PhraseOf(tt.err)); got != tt.err.Error() || said != got {
			t.Errorf("%v is %q and %q in English", tt.err, got, said)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	English.Reason(suffixRefused)                         // a damaged one, without its argument
	rule := umpire.Say("Denied by rule: %s", "no-policy") // a name stays as it is
	for _, tt := range []struct {
		said             umpire.Phrase
		english, chinese string
	}{
		{"", "", ""},
		{"Tool classified as safe", "Tool classified as safe", "该工具属于安全类"},
		{rule, "Denied by rule: no-policy", "被规则拒绝：no-policy"},
		{umpire.Say("Cannot be judged: %s", rule), "Cannot be judged: Denied by rule: no-policy", "无法判定：被规则拒绝：no-policy"},
		{umpire.Say("Tool %q requires approval (%s)", `"W"`, umpire.Phrase("moderate")),
			`Tool "\"W\"" requires approval (moderate)`, `工具 "\"W\"" 需要批准（中等）`},
		{umpire.Say("not parsed: %s", umpire.Phrase("nested too deeply")), "not parsed: nested too deeply", "无法解析：嵌套过深"},
		{umpire.Say("%s; %s", "x", umpire.Verbatim("100%s")), "x; 100%s", "x；100%s"},
		{umpire.Verbatim("Tool classified as safe"), "Tool classified as safe", "Tool classified as safe"},
		{umpire.Say("of a later version: %s", "x"), "of a later version: x", "of a later version: x"},
		// Older versions stored these.
		{"tool-is-safe", "Tool classified as safe", "该工具属于安全类"},
		{`cannot-be-judged(denied-by-rule("no-policy"))`, "Cannot be judged: Denied by rule: no-policy", "无法判定：被规则拒绝：no-policy"},
		{`tool-requires-approval("W",class-moderate)`, `Tool "W" requires approval (moderate)`, `工具 "W" 需要批准（中等）`},
		{umpire.Say("%s; %s", "x", umpire.Phrase("tool-is-safe")), "x; Tool classified as safe", "x；该工具属于安全类"},
		{`denied-by-rule("a","b")`, `denied-by-rule("a","b")`, `denied-by-rule("a","b")`},
		{`of-a-later-version("x")`, `of-a-later-version("x")`, `of-a-later-version("x")`},
	} {
		if got := English.Text(tt.said); got != tt.english || English.Reason(tt.said) != got {
			t.Errorf("%q is %q, want %q", string(tt.said), got, tt.english)
		}
		if got := Find("zh").Text(tt.said); got != tt.chinese {
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
	safe := umpire.Say("Denied by rule: %s", "safe")
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
	if err != nil || strings.Contains(string(got), string(safe)) || strings.Count(string(got), "Denied by rule: safe") != 6 {
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
	said := umpire.Say("Cannot be judged: %s", umpire.Say("%s is not a program that is known", "nosuch"))
	b.ReportAllocs()
	for b.Loop() {
		English.Text(said)
	}
}
