package tool

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/project"
	"github.com/umpirehq/umpire/policy"
	"github.com/umpirehq/umpire/shell"
)

// A bench is a project with the tools, and a folder next to it.
type bench struct {
	*Set

	t             *testing.T
	root, outside string
	home          string
	mode          umpire.SandboxMode // full access by default
	profile       *policy.Profile    // nil means no limit
	rules         []umpire.Rule
}

// patience limits the wait for an expected event.
const patience = 5 * time.Minute

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, mode: umpire.SandboxFullAccess, root: realDir(t), outside: realDir(t), home: realDir(t)}
	b.Set = New(Options{Root: b.root, Home: b.home, Env: os.Environ(), Scratch: realDir(t), MayRead: readsAll})
	b.grace = 50 * time.Millisecond
	t.Cleanup(b.Close)
	return b
}

func readsAll(context.Context, umpire.Call, string) bool { return true }

// realDir is a temporary folder whose path holds no link.
func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// file writes a file, relative to the project.
func (b *bench) file(name, content string) string {
	b.t.Helper()
	path := b.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
	return path
}

func (b *bench) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(b.root, name)
}

func (b *bench) link(to, name string) {
	b.t.Helper()
	if err := os.Symlink(to, b.path(name)); err != nil {
		b.t.Skipf("links are not to be had here: %v", err)
	}
}

func (b *bench) content(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(b.path(name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

// start decides a call the way the gate does, in the mode that asks least.
func (b *bench) start(name string, in any) umpire.Started {
	b.t.Helper()
	raw, ok := in.(string)
	if !ok {
		data, err := json.Marshal(in)
		if err != nil {
			b.t.Fatal(err)
		}
		raw = string(data)
	}
	call := umpire.Call{ID: "c1", Tool: name, Input: json.RawMessage(raw), Dir: b.root, Session: "s", Batch: "b"}
	at, err := project.Open(b.root, project.Options{Home: b.home})
	if err != nil {
		b.t.Fatal(err)
	}
	facts, err := policy.FactsOf(call, shell.Env{Dir: b.root, Home: b.home})
	if err != nil {
		b.t.Fatal(err)
	}
	for i := range facts.Accesses {
		at.Resolve(&facts.Accesses[i])
	}
	rules, err := policy.New(b.rules, policy.Options{Root: b.root, Home: b.home})
	if err != nil {
		b.t.Fatal(err)
	}
	d := policy.Decide(rules, policy.Query{Call: call, Facts: facts, Conditions: policy.Conditions{Mode: umpire.ModeBypass, Profile: b.profile, Sandbox: policy.Sandbox{Mode: b.mode}}})
	if d.Verdict != umpire.Allow {
		b.t.Fatalf("%s %s: %v: %s", name, raw, d.Verdict, d.Reason)
	}
	return umpire.Started{Go: true, Call: call, Decision: b.overTheWire(d), Attempt: 1}
}

// overTheWire is a decision as a gate in another process sends it.
func (b *bench) overTheWire(d umpire.Decision) umpire.Decision {
	b.t.Helper()
	data, err := json.Marshal(d)
	if err == nil {
		err = json.Unmarshal(data, &d)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return d
}

type fields map[string]any

// do decides and runs a call.
func (b *bench) do(name string, in any) umpire.Result {
	b.t.Helper()
	return b.Run(b.t.Context(), b.start(name, in))
}

// ok runs a call that has to succeed and returns its output.
func (b *bench) ok(name string, in any) string {
	b.t.Helper()
	r := b.do(name, in)
	if r.Status != umpire.ResultOK {
		b.t.Fatalf("%s %v: %s: %s", name, in, r.Status, r.Output)
	}
	return r.Output
}

// fails runs a call that has to fail with that text.
func (b *bench) fails(name string, in any, want string) {
	b.t.Helper()
	r := b.do(name, in)
	if r.Status != umpire.ResultError || !strings.Contains(r.Output, want) {
		b.t.Errorf("%s %v: %s %q, want an error with %q", name, in, r.Status, r.Output, want)
	}
}
