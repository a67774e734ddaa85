package tool

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/llm"
)

// TestNothingRunsWithoutTheGatesWord: the zero value of either answer refuses. C-73:
// the person's decision reaches a tool only with its call.
func TestNothingRunsWithoutTheGatesWord(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	allowed := b.start("Bash", fields{"command": "echo ran >> ran"})
	for name, change := range map[string]func(*umpire.Started){
		"not let go":         func(s *umpire.Started) { s.Go = false },
		"the verdict asks":   func(s *umpire.Started) { s.Decision.Verdict = umpire.Ask },
		"the verdict denies": func(s *umpire.Started) { s.Decision.Verdict = umpire.Deny },
		"no decision":        func(s *umpire.Started) { s.Decision = umpire.Decision{} },
		"the zero value":     func(s *umpire.Started) { *s = umpire.Started{Call: s.Call} },
	} {
		started := allowed
		change(&started)
		if r := b.Run(t.Context(), started); r.Status != umpire.ResultDenied || r.Call != "c1" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	b.fails("Read", fields{"file_path": "ran"}, "no such file")
	if r := b.Run(t.Context(), allowed); r.Status != umpire.ResultOK || b.content("ran") != "ran\n" {
		t.Errorf("let go: %+v", r)
	}
}

func TestUnknownToolIsAnError(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fails("Teleport", fields{}, `unknown tool "Teleport"; want one of: Bash, BashOutput, Edit`)
	b.Keep(func(name string) bool { return name == "Read" })
	b.fails("Bash", fields{"command": "true"}, `unknown tool "Bash"; want one of: Read`)
	if b.Has("Bash") || !b.Has("Read") || len(b.Tools()) != 1 {
		t.Errorf("kept %v", b.Names())
	}
	if !newBench(t).Has("Bash") {
		t.Error("another set has lost its tool")
	}
}

// TestSchemasAreWhatModelsTake: an object each, with every required field described.
func TestSchemasAreWhatModelsTake(t *testing.T) {
	t.Parallel()
	tools := newBench(t).Tools()
	if err := llm.Check(llm.Request{Tools: tools, Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Block{llm.Text("a")}}}}); err != nil {
		t.Error(err)
	}
	for _, tool := range tools {
		var schema struct {
			Type       string   `json:"type"`
			Required   []string `json:"required"`
			Properties map[string]struct {
				Type any `json:"type"` // one, or a list of them
			} `json:"properties"`
		}
		if err := json.Unmarshal(tool.Schema, &schema); err != nil || schema.Type != "object" || len(schema.Properties) == 0 {
			t.Errorf("%s: %v: %s", tool.Name, err, tool.Schema)
		}
		for _, field := range schema.Required {
			if schema.Properties[field].Type == nil {
				t.Errorf("%s: required field %q is not described", tool.Name, field)
			}
		}
		if tool.Description == "" {
			t.Errorf("%s says nothing of itself", tool.Name)
		}
	}
	names := slices.Collect(func(yield func(string) bool) {
		for _, tool := range tools {
			if !yield(tool.Name) {
				return
			}
		}
	})
	if want := []string{"Bash", "BashOutput", "Edit", "ExitPlanMode", "GitCheckout", "GitCommit", "GitDiff", "GitLog", "GitPush", "GitStatus", "Glob", "Grep", "KillShell", "LS", "Read", "TodoWrite", "WebFetch", "Write", "filesystem-edit", "filesystem-edit_search"}; !slices.Equal(names, want) {
		t.Errorf("tools %v, want %v", names, want)
	}
}

// TestInputIsReadAsItWasJudged: a field in another case is another field, and ambiguous
// input is rejected.
func TestInputIsReadAsItWasJudged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.file("a", "it is a\n")
	b.file("b", "it is b\n")
	if out := b.ok("Bash", `{"command":"echo one","Command":"echo two","COMMAND":"echo three"}`); out != "one\n" {
		t.Errorf("ran %q", out)
	}
	if out := b.ok("Read", `{"file_path":"a","File_Path":"b"}`); !strings.Contains(out, "it is a") {
		t.Errorf("read %q", out)
	}
	for _, name := range []string{"path", "filePath"} {
		if out := b.ok("Read", fields{name: "a"}); !strings.Contains(out, "it is a") {
			t.Errorf("%s: read %q", name, out)
		}
	}
	b.fails("Read", fields{"file_path": "a", "path": "b"}, "names another path")
	b.fails("Bash", fields{"command": "true", "cmd": "false"}, "cannot be combined with command")
	b.fails("Read", fields{}, "input.file_path: is missing")
	b.fails("Read", fields{"file_path": "a", "offset": "x"}, "input.offset: want a whole number")
	b.fails("Read", fields{"file_path": "a", "limit": 1.5}, "input.limit: want a whole number")
	b.fails("Edit", fields{"file_path": "a", "old_string": "a", "new_string": "b", "replace_all": "perhaps"}, "input.replace_all: want true or false")
	b.fails("Write", fields{"file_path": "a"}, "input.content: is missing")
	b.fails("Bash", fields{"command": "  "}, "input.command: is empty")
	if got := b.do("Bash", `{"command":"echo a","run_in_background":null}`); got.Status != umpire.ResultOK {
		t.Errorf("null is not the same as nothing: %+v", got)
	}
}

func TestBackground(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{
		`{"run_in_background":true}`: true, `{"background":true}`: true, `{"run_in_background":false,"background":true}`: true,
		`{"run_in_background":"true"}`: true, `{}`: false, `{"Run_In_Background":true}`: false, `[]`: false, ``: false,
		`{"run_in_background":1}`: false,
	} {
		if got := Background([]byte(in)); got != want {
			t.Errorf("%s: %v, want %v", in, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x00b\xff")
	f.Fuzz(func(t *testing.T, text string) {
		if got := cleanText(text); !utf8.ValidString(got) || strings.ContainsRune(got, 0) {
			t.Errorf("%q became %q", text, got)
		}
	})
}
