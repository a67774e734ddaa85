package project

import (
	"path/filepath"
	"testing"

	"github.com/umpirehq/umpire"
)

// TestWorktrees covers A-20: a session's own worktree is inside, others are not, wherever
// they are.
func TestWorktrees(t *testing.T) {
	t.Parallel()
	tmp := tempDir(t)
	main := filepath.Join(tmp, "main")
	nested, beside := filepath.Join(main, ".trees", "nested"), filepath.Join(tmp, "beside")
	newRepo(t, main, "one")
	gitIn(t, main, "worktree", "add", "-q", "-b", "n", nested)
	gitIn(t, main, "worktree", "add", "-q", "-b", "b", beside)
	roots := []string{main, nested, beside}
	for _, own := range roots {
		p := open(t, own, Options{})
		for _, other := range roots {
			if got := p.Contains(filepath.Join(other, "f")); got != (own == other) {
				t.Errorf("A-20 in %q: contains %q = %v", own, other, got)
			}
		}
	}
	p := open(t, main, Options{Added: []string{nested}})
	if !p.Contains(filepath.Join(nested, "f")) || p.Contains(filepath.Join(beside, "f")) {
		t.Error("C-65 an added sibling worktree is not inside")
	}
	a := umpire.Access{Kind: umpire.KindDelete, Target: main + "/.trees/*", Glob: true}
	if open(t, main, Options{}).Resolve(&a); a.Place != umpire.PlaceOutside {
		t.Errorf("a pattern that matches a sibling is %v", a.Place)
	}
}
