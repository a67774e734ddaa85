package languages

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unicode"

	"github.com/chai2010/gettext-go/po"
)

var verb = regexp.MustCompile(`%[-+ #0-9.]*(\[\d\])?[a-zA-Z]`)

// TestLanguagesFit: every message has a translation, which takes the same arguments, and each text that older versions
// stored is translated.
func TestLanguagesFit(t *testing.T) {
	t.Parallel()
	for _, tag := range Tags()[1:] {
		data, err := catalogues.ReadFile(strings.ReplaceAll(tag, "-", "_") + ".po")
		if err != nil {
			t.Fatal(err)
		}
		file, err := po.Load(data)
		if err != nil {
			t.Fatalf("%s: %v", tag, err)
		}
		if all := strings.Count(string(data), "\nmsgid "); len(file.Messages) != all-1 { // one is the header
			t.Errorf("%s: %d of %d messages are read", tag, len(file.Messages), all-1)
		}
		language, seen := Find(tag), map[string]bool{}
		for _, message := range file.Messages {
			text, other := message.MsgId, message.MsgStr
			if text == "" || other == "" || len(message.MsgIdPlural) > 0 || message.GetFuzzy() {
				t.Errorf("%s: %q is %q", tag, text, other)
			}
			if set := message.MsgContext; set == "" && language.Of(text) != other || set != "" &&
				language.Word(set, text) != other {
				t.Errorf("%s: %q is not looked up as %q", tag, text, other)
			}
			if seen[message.MsgContext+" "+text] {
				t.Errorf("%s: %q is there twice", tag, text)
			}
			seen[message.MsgContext+" "+text] = true
			if want, got := argsOf(text), argsOf(other); !maps.Equal(want, got) {
				t.Errorf("%s: %q takes %v, and %q takes %v", tag, other, got, text, want)
			}
		}
		for _, text := range storedTexts(t) {
			if !seen[" "+text] {
				t.Errorf("%s: %q has no translation", tag, text)
			}
		}
	}
}

// storedTexts are the texts that older versions stored as codes.
func storedTexts(t *testing.T) (all []string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "catalogue", "codes.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		_, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		all = append(all, text)
	}
	return all
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
		"": "row", "C": "row", "C.UTF-8": "row", "en_US.UTF-8": "row", "tlh": "row", "english": "row", "z": "row",
		"../zh": "row",
		"zh":    "行", "zh-CN": "行", "zh_CN.UTF-8": "行", "ZH_TW": "行", "zh-Hans-CN": "行", "zh_CN@pinyin": "行",
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
		"why", "doubt", "steered", "problem", "odd", "says", "Says", "Why", "Doubt", "Reason", "Problem", "Detail",
		"Missing",
	}
	saidBy = map[string]int{
		"Say": 0, "raise": 1, "raiseTo": 2, "become": 1, "doubt": 1, "harm": 2, "network": 1, "visit": 2,
		"writesFile":  1,
		"runsCommand": 1, "builtin": 1, "describes": 0, "onlyShows": 0, "onlyReads": 0, "limit": 0, "fail": 0,
		"askSecret": 0,
		"one":       3, "deny": 1, "notice": 0,
	}
)

// core are the packages whose texts in these places are phrases.
var core = regexp.MustCompile(`^(shell|policy|internal/(gate|judge|secret/sensitive))/`)

// otherLanguages returns all languages but English, by tag.
func otherLanguages() map[string]map[string]string {
	others := map[string]map[string]string{}
	for _, tag := range Tags()[1:] {
		others[tag] = readTexts(tag)
	}
	return others
}

// source is the program's own, by the paths of its files. The lab speaks English alone.
var source = sync.OnceValues(func() (map[string]*ast.File, error) {
	files, root := map[string]*ast.File{}, filepath.Join("..", "..", "..")
	return files, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasPrefix(name, ".") && path != root || path == filepath.Join(root, "lab")):
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
	for _, text := range storedTexts(t) {
		found[text] = true
	}
	for tag, texts := range others {
		for text := range texts {
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
func collectTexts(t *testing.T, path string, file *ast.File, found map[string]bool,
	others map[string]map[string]string) {
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
			for tag, texts := range others {
				if _, known := texts[text]; !known {
					t.Errorf("%s: %q has no translation in %s", path, text, tag)
				}
			}
		}
	}
}

var (
	// makers of errors, with the place of the format among their arguments.
	makers = map[string]int{"Errorf": 0, "New": 0, "Usage": 1, "Refused": 1, "server.invalid": 0, "gate.invalid": 1,
		"store.conflict": 0, "policy.fail": 1}
	// apart are the packages whose errors are for models, tests, logs and who measures, and stay English.
	apart = regexp.MustCompile(`^(cmd|internal/(api|agent/fake|agent/tool|files/sample|store/storetest|view))/`)
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
			if from, is := call.Fun.(*ast.SelectorExpr); is && path != "errorf.go" && path != "phrase.go" &&
				name == "Errorf" && fmt.Sprint(from.X) == "fmt" {
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
			for tag, texts := range others {
				if _, known := texts[text]; !known {
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
			if field, is := to.(*ast.SelectorExpr); is && slices.Contains(saidIn, field.Sel.Name) &&
				len(node.Rhs) == len(node.Lhs) {
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

// nameOf returns the name of the called function, without its package or receiver.
func nameOf(called ast.Expr) string {
	switch by := called.(type) {
	case *ast.SelectorExpr:
		return by.Sel.Name
	case *ast.Ident:
		return by.Name
	}
	return ""
}
