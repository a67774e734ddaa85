package place

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/shell"
)

// A program that searches a folder may follow a link, so a link out of the project causes a
// doubt that names it.
func TestLinksThatASearchFinds(t *testing.T) {
	t.Parallel()
	root, outside := t.TempDir(), t.TempDir()
	write(t, filepath.Join(outside, "secret"), "x")
	write(t, filepath.Join(root, "docs", "a.md"), "x")
	write(t, filepath.Join(root, "src", "b.go"), "x")
	link := filepath.Join(root, "docs", "notes.md")
	for from, to := range map[string]string{link: filepath.Join(outside, "secret"), filepath.Join(root, "src", "c.go"): "b.go", filepath.Join(root, "src", "python"): "/usr/bin/env"} {
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	g, err := Open(root, Options{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	problem := func(line string) string {
		for _, a := range shell.Parse(line, shell.Env{Dir: g.Root, Home: "/home/ann"}) {
			if g.Resolve(&a); a.Doubt != "" {
				return catalogue.English.Text(a.Doubt)
			}
		}
		return ""
	}
	for _, line := range []string{
		"find docs | xargs cat", "find . -type l -exec cat {} \\;", "find docs -name '*.md' | xargs head", "grep -R x docs", "grep --dereference-recursive x", "rg -L x", "rg --follow x docs",
		"fd . docs -x cat", "ls docs/* | xargs cat", "cp -rL docs out", "tar -chf - docs", "rsync -aL docs/ out", "diff -r docs src", "for f in $(find docs); do cat $f; done",
	} {
		if got := problem(line); !strings.Contains(got, "notes.md") {
			t.Errorf("%s: %q does not name the link", line, got)
		}
	}
	for _, line := range []string{"find src | xargs cat", "grep -r x docs", "grep -R x src", "rg x", "find docs", "find docs | xargs ls", "du -L docs", "cp -r docs out", "fd . src -x cat", "find docs -delete"} {
		if got := problem(line); got != "" {
			t.Errorf("%s: %s", line, got)
		}
	}
	if a := (umpire.Access{Kind: umpire.KindRead, Target: g.Root, Tree: true}); true {
		if g.Resolve(&a); a.Doubt != "" {
			t.Errorf("a search that follows no links: %s", a.Doubt)
		}
	}
}
