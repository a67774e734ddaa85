package policy

import (
	"path"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/secret/sensitive"
)

// Every line of the table asks, at the root, one folder down and five folders down, and no rule
// or mode lifts it.
func TestGuardedPlacesAsk(t *testing.T) {
	t.Parallel()
	p := newPolicy(t, testOptions, "allow *", "allow Edit(/**)", "allow Write(/**)", "allow Delete(/**)")
	lines := 0
	for place := range sensitive.Places() {
		lines++
		if place.ID == "" || place.Why == "" || strings.ContainsAny(place.Path, "{}") {
			t.Errorf("%+v: want an id, a why and no braces", place)
		}
		for _, below := range []string{"", "sub", "a/b/c/d/e"} {
			target := place.Example()
			if strings.HasPrefix(target, "~") || strings.HasPrefix(target, "/") {
				below = ""
			}
			target = path.Join(below, target)
			for _, mode := range []umpire.Mode{umpire.ModeDefault, umpire.ModeAuto, umpire.ModeBypass} {
				check(t, p, inMode(mode, query("Edit", write(target))), control)
			}
			check(t, p, query("Delete", on(umpire.KindDelete, target, umpire.High)), control)
		}
	}
	if lines < 100 {
		t.Errorf("the table has %d lines", lines)
	}
}

func TestOrdinaryFilesAreNotGuarded(t *testing.T) {
	t.Parallel()
	p := newPolicy(t, testOptions, "allow *", "allow Edit(/**)", "allow Delete(/**)")
	for _, target := range []string{
		"CLAUDE.md", "AGENTS.md", ".github/workflows/ci.yml", "package.json", "Cargo.toml", "pyproject.toml", "go.mod", "Makefile", ".gitignore",
		".gitattributes", ".git/info/exclude", ".git/COMMIT_EDITMSG", ".vscode/x.code-snippets", ".claude/plans/plan.md", ".claude/worktrees/w/main.go",
		".kiro/specs/login/tasks.md", "src/mise.go", "npmrc", "config.toml", "cargo/config.toml", ".cargo/audit.toml", "build/*", "*.json", "config/*.toml", "*",
	} {
		access := write(target)
		access.Glob = strings.Contains(target, "*")
		check(t, p, query("Edit", access), ruleAllow)
	}
	for _, target := range []string{"*se.toml", "mise*", ".*", ".n*", ".vscode/*.json", ".cargo/*"} {
		access := write(target)
		access.Glob = true
		check(t, p, query("Edit", access), control)
	}
}
