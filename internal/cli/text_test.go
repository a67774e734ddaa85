package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"iter"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/cli/rules"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/host/drive"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/internal/view/languages"
	"github.com/umpirehq/umpire/policy"
	"github.com/umpirehq/umpire/shell"
)

// spared matches texts that are the same in every language: a command, names of files.
var spared = regexp.MustCompile(`umpire [a-z -]+$|\.[a-z.]+|cookie|shell|git`)

// others are the languages other than English, by tag.
var others = sync.OnceValue(func() map[string]*catalogue.Language {
	all := map[string]*catalogue.Language{}
	for _, tag := range languages.Tags()[1:] {
		all[tag] = languages.Find(tag)
	}
	return all
})

// translated reports a text without a translation in one of the languages.
func translated(t *testing.T, where, english string) {
	t.Helper()
	for tag, language := range others() {
		if language.Of(english) == english {
			t.Errorf("%s: %q has no translation in %s", where, english, tag)
		}
	}
}

// TestHelpIsTranslated walks the command tree.
func TestHelpIsTranslated(t *testing.T) {
	t.Parallel()
	zh, texts := languages.Find("zh_CN.UTF-8"), 0
	want := func(where, english string) {
		texts++
		translated(t, where, english)
	}
	for _, e := range exitCodes {
		want("help exit-codes", e.means)
	}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		want(cmd.CommandPath(), cmd.Short)
		if cmd.Long != "" && cmd.Name() != "exit-codes" { // that one is put together
			want(cmd.CommandPath(), cmd.Long)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) { want(cmd.CommandPath()+" --"+f.Name, f.Usage) })
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(newRootCommand(&app.App{}))
	for _, key := range config.Keys {
		want("config", key.About)
	}
	for i := range drive.Cases {
		want("doctor", drive.Cases[i].Name)
	}
	for _, r := range policy.Builtin() {
		if said := zh.Reason(umpire.Verbatim(r.Description)); regexp.MustCompile(`[a-z]{3}`).MatchString(strings.ReplaceAll(spared.ReplaceAllString(said, ""), "umpire", "")) {
			t.Errorf("the built-in rule %s says %q", r.ID, said)
		}
	}
	for _, e := range rules.EffectTexts {
		want("programs show", e.Text)
	}
	if texts < 60 {
		t.Errorf("only %d texts", texts)
	}
}

var (
	verb   = regexp.MustCompile(`%[-+ #0-9.]*[a-zA-Z]`)
	letter = regexp.MustCompile(`[A-Za-z]`)
)

// TestSpokenTextsAreTranslated reads the source for texts in the person's language: the
// literals given to a *catalogue.Language, and the details of doctor.
func TestSpokenTextsAreTranslated(t *testing.T) {
	t.Parallel()
	found := map[string]int{}
	position := map[string]int{"Of": 0, "text": 0, "textf": 0, "ok": 1, "warn": 2, "fail": 2} // of the text among the arguments
	var files []string
	for _, dir := range []string{".", "*", "../view", "../agent/tui", "../console"} {
		found, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for said := range saidIn(t, files, position) {
		if !letter.MatchString(verb.ReplaceAllString(said.text, "")) {
			continue
		}
		found[said.method]++
		translated(t, said.at.String(), said.text)
	}
	for method := range position {
		if found[method] < 5 {
			t.Errorf("found %d texts of method %s", found[method], method)
		}
	}
}

// A saying is a literal argument of one of the methods.
type saying struct {
	method, text string
	at           token.Position
}

// saidIn finds the texts in source files other than tests.
func saidIn(t *testing.T, files []string, position map[string]int) iter.Seq[saying] {
	return func(yield func(saying) bool) {
		t.Helper()
		fset := token.NewFileSet()
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for node := range ast.Preorder(file) {
				method, text := spoken(node, position)
				if text != "" && !yield(saying{method, text, fset.Position(node.Pos())}) {
					return
				}
			}
		}
	}
}

// spoken returns the literal text in a call of one of the methods.
func spoken(node ast.Node, position map[string]int) (method, text string) {
	call, ok := node.(*ast.CallExpr)
	if !ok {
		return "", ""
	}
	name := ""
	switch called := call.Fun.(type) {
	case *ast.SelectorExpr:
		name = called.Sel.Name
	case *ast.Ident:
		name = called.Name
	}
	at, ok := position[name]
	if !ok || at >= len(call.Args) {
		return "", ""
	}
	literal, ok := call.Args[at].(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", ""
	}
	text, _ = strconv.Unquote(literal.Value)
	return name, text
}

// TestReasonsAreTranslated judges commands of all sorts, and every tool, and checks
// that each reason is in the person's language.
func TestReasonsAreTranslated(t *testing.T) {
	t.Parallel()
	zh, said := languages.Find("zh"), map[umpire.Phrase]bool{}
	hear := func(tool string, fields map[string]string) {
		input, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		facts, err := policy.FactsOf(umpire.Call{Tool: tool, Input: input, Dir: "/p"}, shell.Env{Dir: "/p", Home: "/home/ann"})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range facts.Accesses {
			said[a.Reason], said[a.Doubt] = true, true
		}
	}
	corpus, err := rules.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range corpus.Lines {
		hear("Bash", map[string]string{"command": line.Command})
	}
	for _, tool := range []string{"Read", "LS", "Glob", "Grep", "Write", "Edit", "NotebookEdit", "filesystem-edit", "filesystem-edit_search",
		"GitStatus", "GitDiff", "GitLog", "TodoWrite", "TodoRead", "Task", "KillShell", "BashOutput", "mcp__x__y", "Unknown"} {
		hear(tool, map[string]string{"path": "a"})
	}
	delete(said, "")
	for reason := range said {
		if zh.Reason(reason) == catalogue.English.Text(reason) {
			t.Errorf("%q has no translation", reason)
		}
	}
	if len(said) < 200 {
		t.Errorf("only %d reasons", len(said))
	}
}

// TestBenchSpeaksChinese checks that scores are in the person's language, and JSON is not translated.
func TestBenchSpeaksChinese(t *testing.T) {
	t.Parallel()
	play := func(args ...string) string {
		var out bytes.Buffer
		code := runProgram(t.Context(), app.Surroundings{
			Args: append([]string{"bench"}, args...), Stdin: strings.NewReader(""), Stdout: &out, Stderr: io.Discard,
			Getenv: func(name string) string { return map[string]string{"UMPIRE_LANG": "zh"}[name] }, Dir: t.TempDir(), Now: time.Now,
		})
		if code != 0 {
			t.Errorf("%q: exit code %d", args, code)
		}
		return out.String()
	}
	file := labelled(t, `{"id":"s","command":"npm publish","want":"safe","class":"k"}`)
	text := play("--by", "class", "--list", "1", file)
	for _, want := range []string{"：1 行\n", "误放行", "1 / 1 个安全的行", "多余的询问", "类别 k", "次调用每秒", "0 次崩溃"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if got := play("--json", "--list", "1", file); !strings.Contains(got, `"kind":"needless ask"`) {
		t.Errorf("JSON is\n%s", got)
	}
}

// TestHelpShowsTheOrderOfDecision as the policy has it, in both languages.
func TestHelpShowsTheOrderOfDecision(t *testing.T) {
	t.Parallel()
	var english strings.Builder
	numbers := ""
	for _, r := range policy.Order {
		fmt.Fprintf(&english, "  %2d  %-54s %s\n", r.Row, r.When, r.Does)
		numbers += fmt.Sprint(r.Row, " ")
	}
	if !strings.Contains(orderTopic, english.String()) {
		t.Errorf("umpire help order does not have\n%s", english.String())
	}
	chinese := ""
	for _, row := range regexp.MustCompile(`(?m)^ +(\d+)  `).FindAllStringSubmatch(languages.Find("zh").Of(orderTopic), -1) {
		chinese += row[1] + " "
	}
	if chinese != numbers {
		t.Errorf("the rows in Chinese are %s, want %s", chinese, numbers)
	}
}
