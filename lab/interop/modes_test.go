//go:build interop

package interop

import (
	"fmt"
	"slices"
	"testing"
)

// noHooks takes umpire out of the settings.
func (w *world) noHooks() {
	w.Helper()
	if out, code := w.start(w.Umpire, "setup", "claude", "--undo"); code != 0 {
		w.Fatalf("umpire setup claude --undo: exit %d\n%s", code, out)
	}
}

// ordinary are calls of a usual session, in a clone whose code a person trusts.
func ordinary(w *world) []turn {
	file := func(name string) string { return w.Path("project/" + name) }
	var turns []turn
	add := func(tool string, input map[string]any) {
		turns = append(turns, turn{{ID: fmt.Sprintf("o%02d", len(turns)), Tool: tool, Input: input}})
	}
	run := func(command string) { add("Bash", map[string]any{"command": command, "description": "a step"}) }
	add("Read", map[string]any{"file_path": file("README.md")})
	run("ls -la")
	run("git status --short")
	run("git log --oneline | head -5")
	run("npm test")
	add("Write", map[string]any{"file_path": file("a.txt"), "content": "one\ntwo\n"})
	add("Edit", map[string]any{"file_path": file("a.txt"), "old_string": "one", "new_string": "three"})
	run("grep -n two a.txt")
	run("mkdir -p src/pkg")
	run("touch src/pkg/x.js")
	add("Write", map[string]any{"file_path": file("src/pkg/y.js"), "content": "let  y = 1\n"})
	run("cp src/pkg/y.js src/pkg/z.js")
	run("mv src/pkg/z.js src/pkg/w.js")
	run("sed -n 1,5p src/pkg/y.js")
	run("find . -name '*.js' -not -path './.git/*'")
	run("wc -l src/pkg/*.js")
	run("prettier --write src")
	run("npm run lint")
	run("go vet ./... && go test ./...")
	run("make test")
	add("Edit", map[string]any{"file_path": file("add.go"), "old_string": "a + b", "new_string": "b + a"})
	run("go test ./...")
	run("git diff --stat")
	run("git add -A")
	run("git commit -q -m 'add the package'")
	run("npm test 2>&1 | tail -3")
	run("git branch --show-current")
	run("sort a.txt | uniq -c")
	run("diff a.txt README.md || true")
	run("du -sh . && pwd && which git")
	add("ToolSearch", map[string]any{"query": "select:WebFetch", "max_results": 1})
	return turns
}

// ordinaryProject fills the project of such a session.
func (w *world) ordinaryProject() {
	w.Helper()
	w.write("project/go.mod", "module example.org/p\n\ngo 1.24\n")
	w.write("project/add.go", "// Package p adds.\npackage p\n\n// Add adds.\nfunc Add(a, b int) int { return a + b }\n")
	w.write("project/add_test.go", "package p\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fail()\n\t}\n}\n")
	w.write("project/Makefile", "test:\n\tgo test ./...\n")
	w.readyProject()
	w.program("prettier", "#!/bin/sh\nexit 0\n")
}

// counts are the calls that Claude Code asked about and refused in a session.
type counts struct{ asked, refused []string }

// playOrdinary plays the ordinary session in a mode, with umpire or without; every dialog
// is answered with yes.
func playOrdinary(t *testing.T, mode string, with bool) counts {
	t.Helper()
	m := startModel(t)
	w := newWorld(t, m)
	w.ordinaryProject()
	if with {
		w.trustCode()
	} else {
		w.noHooks()
	}
	m.Main = ordinary(w)
	s := w.hostSession(mode, true)
	var c counts
	for _, turn := range m.Main {
		id := turn[0].ID
		r := w.told(id)
		switch {
		case s.asked[id]:
			c.asked = append(c.asked, id)
		case r.IsError:
			c.refused = append(c.refused, id)
		}
	}
	return c
}

// TestClaudeOrdinarySession: in no mode does umpire make Claude Code show a dialog, or
// refuse a call, that it would not have without. The clone's code is trusted.
func TestClaudeOrdinarySession(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"default", "acceptEdits", "auto", "bypassPermissions"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			alone, with := playOrdinary(t, mode, false), playOrdinary(t, mode, true)
			t.Logf("without umpire: asked %q, refused %q", alone.asked, alone.refused)
			t.Logf("with umpire: asked %q, refused %q", with.asked, with.refused)
			t.Logf("figure: a session in %s: %d dialogs and %d refusals without umpire, %d and %d with it",
				mode, len(alone.asked), len(alone.refused), len(with.asked), len(with.refused))
			for _, id := range with.asked {
				if !slices.Contains(alone.asked, id) {
					t.Errorf("%s was asked about with umpire only", id)
				}
			}
			for _, id := range with.refused {
				if !slices.Contains(alone.refused, id) {
					t.Errorf("%s was refused with umpire only", id)
				}
			}
		})
	}
}
