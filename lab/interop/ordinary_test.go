//go:build interop

package interop

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/drive"
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

// TestHostsOrdinarySession: in an agent's initial mode, umpire stops no call of a usual session that the
// agent alone would have run. The clone's code is trusted. An agent that never asks leaves all questions to
// umpire, so for it the person has chosen which calls run.
func TestHostsOrdinarySession(t *testing.T) {
	t.Parallel()
	for _, d := range drivers {
		if host.Find(d.Name) == nil || d.Name == "claude" { // see TestClaudeOrdinarySession
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			level := "low"
			if d.EndsAtDenial() {
				level = "medium"
			}
			alone := playLines(t, d, "")
			guarded := playLines(t, d, level)
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

// playLines plays the usual session, and returns the lines that did not run. If an autonomy is given,
// umpire stands in front of the agent.
func playLines(t *testing.T, d *driver, autonomy string) (stopped []string) {
	t.Helper()
	m := startModel(t)
	w := newLab(t, d.Name, m)
	w.git("init", "-q")
	w.ordinaryProject()
	what := map[string]string{}
	add := func(name string, call drive.Call) {
		call.ID = fmt.Sprintf("o%02d", len(what))
		what[call.ID] = name
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
	if autonomy != "" {
		w.trustCode()
		if err := w.Register(t.Context()); err != nil {
			t.Fatal(err)
		}
		if out, code := w.start(w.Umpire, "autonomy", autonomy); code != 0 {
			t.Fatalf("umpire autonomy: exit %d: %s", code, out)
		}
	}
	for len(m.Main) > 0 {
		out := w.playUsual()
		ended := slices.IndexFunc(m.Main, func(of turn) bool {
			r, ok := m.Result(of[0].ID)
			if refusal.MatchString(r.Text) {
				stopped = append(stopped, what[of[0].ID])
				t.Logf("umpire %q, %s: %.300q", autonomy, what[of[0].ID], r.Text)
			}
			return !ok
		})
		switch {
		case ended < 0:
			return stopped
		case autonomy == "" || !d.EndsAtDenial() || !refusal.MatchString(out):
			t.Fatalf("%s was not played: %.500s", what[m.Main[ended][0].ID], out)
		}
		name := what[m.Main[ended][0].ID]
		t.Logf("umpire ended the run at %s: %s", name, out[max(0, len(out)-1500):])
		stopped = append(stopped, name)
		m.Main = m.Main[ended+1:]
	}
	return stopped
}

// playUsual plays the model's script in the agent's initial mode.
func (w *world) playUsual() string {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), sessionLimit)
	defer cancel()
	out, err := w.Play(ctx, usualMode)
	if err != nil {
		w.Fatalf("%v\n%s", err, out)
	}
	return out
}

// refusal matches the texts with which agents and umpire refuse a call.
var refusal = regexp.MustCompile(`(?i)umpire: |umpire has not answered|denied|declined|rejected|requires approval|` +
	`tool "[a-z_]+" not found`)
