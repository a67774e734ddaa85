package umpire_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/place"
	"github.com/umpirehq/umpire/policy"
)

// decide returns the decision on a command line in a folder.
func decide(dir, home, line string) (umpire.Decision, error) {
	bounds, err := place.Open(dir, place.Options{Home: home})
	if err != nil {
		return umpire.Decision{}, err
	}
	rules, err := policy.New(nil, policy.Options{Root: bounds.Root, Home: bounds.Home, FoldCase: bounds.FoldCase})
	if err != nil {
		return umpire.Decision{}, err
	}
	input, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		return umpire.Decision{}, err
	}
	call := umpire.Call{Tool: "Bash", Input: input, Dir: bounds.Dir}
	facts, err := policy.FactsOf(call, bounds.Env())
	if err != nil {
		return umpire.Decision{}, err
	}
	bounds.ResolveAll(&facts)
	q := policy.Query{Call: call, Facts: facts}
	q.Mode, q.Now = umpire.ModeDefault, time.Now()
	return policy.Decide(rules, q), nil
}

// A command line is decided by the paths it reaches: cat may read the project, but must ask to
// read a file beside it.
func Example() {
	dir, remove := newProject()
	defer remove()
	for _, line := range []string{"cat main.go", "cat ../x", "cat link", "rm -rf /"} {
		decision, err := decide(dir, filepath.Dir(dir), line)
		fmt.Println(line, "-", decision.Verdict, err)
	}
	// Output:
	// cat main.go - allow <nil>
	// cat ../x - ask <nil>
	// cat link - ask <nil>
	// rm -rf / - deny <nil>
}

// newProject creates a project with a file beside it and a link to that file.
func newProject() (dir string, remove func()) {
	top, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	dir = filepath.Join(top, "project")
	for _, err := range []error{
		os.Mkdir(dir, 0o700),
		os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module project\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n"), 0o600),
		os.WriteFile(filepath.Join(top, "x"), []byte("not ours\n"), 0o600),
		os.Symlink("../x", filepath.Join(dir, "link")),
	} {
		if err != nil {
			panic(err)
		}
	}
	return dir, func() { _ = os.RemoveAll(top) }
}

// A command in a repository whose settings name a program asks: the example passes these
// settings to package shell.
func TestExampleSeesGitSettings(t *testing.T) {
	t.Parallel()
	dir, remove := newProject()
	t.Cleanup(remove)
	for settings, want := range map[string]umpire.Verdict{
		"": umpire.Allow, "[core]\n\tfsmonitor = ./x\n": umpire.Ask,
	} {
		for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": settings, "objects/x": "", "refs/x": ""} {
			name = filepath.Join(dir, ".git", name)
			if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := decide(dir, filepath.Dir(dir), "git status"); got.Verdict != want || err != nil {
			t.Errorf("git status with settings %q: %v, %v; want %v", settings, got.Verdict, err, want)
		}
	}
}

// The code in the documentation is the code that runs here.
func TestShownCodeIsTheExample(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("docs/library.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(readme), "\n```go\n")
	block, _, ok := strings.Cut(block, "```\n")
	if !ok || !strings.Contains(string(source), "\n"+block) || !strings.Contains(block, "policy.Decide(") {
		t.Errorf("docs/library.md shows other code than the example:\n%s", block)
	}
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	rest, lines := string(source), 0
	for line := range strings.Lines(string(doc)) {
		code, ok := strings.CutPrefix(line, "//\t")
		if !ok {
			continue
		}
		lines++
		if _, rest, ok = strings.Cut(rest, "\t"+code); !ok {
			t.Errorf("the package comment shows a line that the example does not have there: %s", code)
		}
	}
	if lines == 0 {
		t.Error("the package comment shows no code")
	}
}
