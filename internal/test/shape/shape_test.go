package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// badTree has one of everything that the program counts.
var badTree = map[string]string{
	"go.mod": "module example.com/bad\n\ngo 1.26\n",
	"internal/gate/submit.go": `package gate

import (
	"example.com/bad/internal/strictjson"
	"example.com/bad/policy"
)

// A Submission is a message.
type Submission struct {
	ID    string
	Calls []Call
}

type Call struct {
	Tool  string
	Input []byte
}

type Gate struct{}

// Submit takes a message in.
func (g *Gate) Submit(in Submission) error {
	held := keepCalls(in.Calls)
	return g.run(held, (*Gate).store)
}

type held struct {
	calls []Call
	other []byte
}

func (g *Gate) run(h *held, next func(*Gate, *held) error) error {
	_ = strictjson.Read(h.calls[0].Input)
	policy.Note(h.other)
	return next(g, h)
}
`,
	"internal/gate/store.go": `package gate

// keepCalls keeps them.
func keepCalls(all []Call) *held { return &held{calls: all} }

func (g *Gate) store(h *held) error {
	g.count(len(h.calls))
	return check(h)
}

func (g *Gate) count(int) {}
`,
	"internal/gate/check.go": `package gate

func check(what *held) error { return again(what) }
`,
	"internal/gate/again.go": `package gate

func again(h *held) error { keepCalls(h.calls); return nil }

func unused() { check(nil) } // points back
`,
	"internal/strictjson/read.go": `package strictjson

import "encoding/json"

func Read(text []byte) bool { return json.Valid(text) && valid(text) }

func valid(text []byte) bool { return json.Valid(text) }
`,
	"policy/policy.go": `package policy

import "encoding/json"

func Note(text []byte) { _ = json.Unmarshal(text, nil) }
`,
	"cmd/umpire-hook/main.go": `package main

import "example.com/bad/internal/gate"

func main() { _ = (&gate.Gate{}).Submit(gate.Submission{}) }
`,
	"cmd/umpire-hook/main_test.go": "package main\n\n// A test.\nvar _ = 1\n",
	"shell/table.go": "package shell\n\n" +
		"var wide = \"" + strings.Repeat("x", 120) + "\"\n\nfunc HTTPServer() {}\n\nfunc add() {}\n",
}

func loadTree(t *testing.T, tree map[string]string) *module {
	t.Helper()
	root := t.TempDir()
	for name, text := range tree {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m, err := loadModule(root)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestBadTreeIsCounted(t *testing.T) {
	t.Parallel()
	m := loadTree(t, badTree)
	index := m.indexFunctions()

	if w := m.measureWidths(); w.wide != 1 || w.longest != 133 || w.longestAt != "shell/table.go:3" || w.comments != 4 {
		t.Errorf("widths = %+v", w)
	}
	if got := m.methods()["internal/gate.Gate"]; got != 4 {
		t.Errorf("Gate has %d methods, want 4", got)
	}
	if n := m.countNames(); n.oneWord != 12 || n.all != 14 || n.packages["add"] != 1 || n.packages["main"] != 0 {
		t.Errorf("names = %+v", n)
	}
	a := m.fileArrows(index, "internal/gate")
	if a.all != 5 || !slices.Equal(a.back, []string{"check.go -> again.go"}) {
		t.Errorf("arrows = %+v", a)
	}
	if m.lines(test) != 4 {
		t.Errorf("%d lines of tests, want 4", m.lines(test))
	}
}

func TestSubmissionIsFollowed(t *testing.T) {
	t.Parallel()
	m := loadTree(t, badTree)
	index := m.indexFunctions()
	start := index.find(m, "(*internal/gate.Gate).Submit")
	want := []string{
		"internal/gate/submit.go", "internal/gate/store.go", "internal/strictjson/read.go", "internal/gate/store.go",
		"internal/gate/check.go", "internal/gate/again.go",
	}
	w := m.walkFrom(index, start, false)
	if diff := cmp.Diff(want, w.trail); diff != "" || w.returns() != 1 {
		t.Errorf("%d returns, trail (-want +got):\n%s", w.returns(), diff)
	}
	if diff := cmp.Diff([]string{"all", "h", "in", "text", "what"}, slices.Sorted(maps.Keys(w.names))); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if wide := m.walkFrom(index, start, true); !slices.Contains(wide.trail, "policy/policy.go") {
		t.Errorf("the wide walk entered %q, want policy/policy.go as well", wide.trail)
	}
}

func TestHookPathIsFollowed(t *testing.T) {
	t.Parallel()
	m := loadTree(t, badTree)
	p := m.measurePath(m.reachFrom(m.indexFunctions(), []string{hookPackage}, []string{hookStart}))
	wantForms := []string{"internal/gate.Call", "internal/gate.Submission", "internal/gate.held"}
	if diff := cmp.Diff(wantForms, p.forms); diff != "" {
		t.Errorf("forms (-want +got):\n%s", diff)
	}
	wantScans := []string{
		"1 policy.Note -> encoding/json.Unmarshal",
		"2 (*internal/gate.Gate).run -> internal/strictjson.Read",
	}
	if diff := cmp.Diff(wantScans, p.scans); diff != "" || p.passes != 3 {
		t.Errorf("%d passes, scans (-want +got):\n%s", p.passes, diff)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{
		"add": 1, "Add": 1, "JSON": 1, "readJSON": 2, "HTTPServer": 2, "resolvePath": 2, "read_path": 2, "aB": 2,
	} {
		if got := words(name); got != want {
			t.Errorf("words(%q) = %d, want %d", name, got, want)
		}
	}
}

func TestCommitSizes(t *testing.T) {
	t.Parallel()
	log := "commit\n\n3\t2\ta.go\n9\t9\ta_test.go\ncommit\n\n1\t0\tb.go\n1\t0\tREADME.md\ncommit\n\n7\t7\tREADME.md\n"
	if diff := cmp.Diff([]int{1, 5}, commitSizes(log)); diff != "" {
		t.Error(diff)
	}
}

// The exceptions are kept by hand, so each must still except something.
func TestExceptionsAreUsed(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("type-checks the whole module")
	}
	m, err := loadModule(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	index := m.indexFunctions()
	p := m.measurePath(m.reachFrom(index, []string{hookPackage}, []string{hookStart}))
	for _, name := range slices.Concat(slices.Collect(maps.Keys(otherBytes)), slices.Collect(maps.Keys(otherScans))) {
		if !p.used[name] {
			t.Errorf("%s is not on the hook path any more: take it out of the exceptions", name)
		}
	}
	if len(p.forms) == 0 || p.passes == 0 || index.find(m, "(*internal/gate.Gate).Submit") == nil {
		t.Error("the starts of the paths were not found: they have been renamed")
	}
	var out bytes.Buffer
	if err := m.measure().print(&out); err != nil || !strings.Contains(out.String(), "lines over 120 columns") {
		t.Errorf("print: %v\n%s", err, &out)
	}
}
