//go:build interop

package interop

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/umpirehq/umpire/internal/conformance"
	"github.com/umpirehq/umpire/internal/host"
)

// ordinaryLines are the command lines of a usual session.
var ordinaryLines = []string{
	"ls -la", "cat README.md", "git status --short", "git log --oneline | head -5", "npm test", "grep -n Add add.go",
	"mkdir -p src/pkg", "touch src/pkg/x.js", "echo 'let  y = 1' > src/pkg/y.js", "cp src/pkg/y.js src/pkg/z.js",
	"mv src/pkg/z.js src/pkg/w.js", "sed -n 1,5p src/pkg/y.js", "find . -name '*.js' -not -path './.git/*'",
	"wc -l src/pkg/*.js", "npm run lint", "go vet ./...", "go test ./...", "make test", "git diff --stat", "git add -A",
	"git commit -q -m 'add the package'", "npm test 2>&1 | tail -3", "git branch --show-current",
	"sort README.md | uniq -c", "diff add.go README.md || true", "du -sh . && pwd", "head -3 go.mod", "which git",
}

// TestHostsOrdinarySession: in the mode that an agent starts in, umpire stops no call of a usual
// session that the agent alone would have run. The clone's code is trusted.
func TestHostsOrdinarySession(t *testing.T) {
	t.Parallel()
	for _, d := range conformance.Drivers {
		if host.Find(d.Name) == nil || d.Name == "claude" { // see TestClaudeOrdinarySession
			continue
		}
		if d.EndsAtDenial() {
			continue // alone it runs everything unasked, and what umpire asks about ends its run
		}
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			alone := playLines(t, d, false)
			guarded := playLines(t, d, true)
			t.Logf("figure: a session of %s: %d calls not run without umpire, %d with it",
				d.Name, len(alone), len(guarded))
			for _, line := range guarded {
				if !slices.Contains(alone, line) {
					t.Errorf("umpire alone stopped %s", line)
				}
			}
		})
	}
}

// playLines plays the usual session, and returns what did not run.
func playLines(t *testing.T, d *conformance.Driver, guarded bool) (stopped []string) {
	t.Helper()
	m := startModel(t)
	w := newLab(t, d.Name, m)
	w.git("init", "-q")
	w.ordinaryProject()
	calls := map[string]conformance.Call{}
	add := func(what string, call conformance.Call) {
		call.ID = fmt.Sprintf("o%02d", len(calls))
		calls[what] = call
		m.Main = append(m.Main, turn{call})
	}
	add("a write", d.WriteFile(w.Path("project/a.txt"), "one\ntwo\n"))
	add("another write", d.WriteFile(w.Path("project/b.txt"), "one\ntwo\n"))
	for _, line := range ordinaryLines {
		add(line, d.Shell(line))
	}
	if err := w.Prepare(); err != nil {
		t.Fatal(err)
	}
	if guarded {
		w.trustCode()
		if err := w.Register(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), sessionLimit)
	defer cancel()
	out, err := w.Play(ctx, conformance.Usual)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for what, call := range calls {
		r, ok := m.Result(call.ID)
		if !ok {
			t.Errorf("%s was not played: %.500s", what, out)
		}
		if refusal.MatchString(r.Text) {
			stopped = append(stopped, what)
			t.Logf("umpire %v, %s: %.300q", guarded, what, r.Text)
		}
	}
	return stopped
}

// refusal is how agents and umpire say that a call was not run.
var refusal = regexp.MustCompile(`(?i)access: |umpire has not answered|denied|declined|rejected|requires approval|` +
	`tool "[a-z_]+" not found`)
