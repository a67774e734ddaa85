package place

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/shell"
)

// TestSecretsThatPatternsMatch looks on disk for the matches of a wildcard, and for the files
// that find passes to a program.
func TestSecretsThatPatternsMatch(t *testing.T) {
	t.Parallel()
	root := tempDir(t)
	for _, name := range []string{"certs/server.key", "certs/README", "keys/a/id_rsa", "src/a.go", "a.json", "deploy/prod.json", "conf/current.txt"} {
		write(t, filepath.Join(root, name), "x")
	}
	link(t, "../certs/server.key", filepath.Join(root, "linked", "plain"))
	b := open(t, root, Options{Root: root})
	secret := func(file string) bool {
		return strings.HasSuffix(file, ".key") || strings.HasSuffix(file, "id_rsa") || strings.HasSuffix(file, "prod.json")
	}
	found := func(line string) string {
		for _, a := range shell.Parse(line, b.Env()) {
			if b.Resolve(&a); !a.Paths() || a.Names || len(a.Handed) == 0 && (!a.Glob || a.Tree) {
				continue
			}
			name, _, err := b.Search(&a, secret)
			if err != nil {
				t.Errorf("%s: %v", line, err)
			}
			if name != "" {
				return strings.TrimPrefix(name, b.Root+"/")
			}
		}
		return ""
	}
	for line, want := range map[string]string{
		"cat certs/*": "certs/server.key", "cat cert?/*": "certs/server.key", "head -1 c*/s*": "certs/server.key", "cat keys/*/*": "keys/a/id_rsa", "cat **/a/*": "keys/a/id_rsa",
		"cat linked/*": "certs/server.key", "cat */*.json": "deploy/prod.json", "for f in certs/*; do cat $f; done": "certs/server.key", "find keys -type f -exec cat {} +": "keys/a/id_rsa",
		"find . -name '*.json' | xargs cat": "deploy/prod.json", "find . -iname '*.JSON' -exec head {} +": "deploy/prod.json", "find keys -type f | xargs -n1 cat": "keys/a/id_rsa",
		"find certs -newer a.json -exec cat {} +": "certs/server.key", "cat $(find keys -type f)": "keys/a/id_rsa", "for f in $(find keys -type f); do cat $f; done": "keys/a/id_rsa",
		"find keys -type f | while read -r f; do cat \"$f\"; done": "keys/a/id_rsa", "find keys -print0 | xargs -0 -I{} cat {}": "keys/a/id_rsa",
		`find . \( -name '*.md' -o -name '*.json' \) -exec cat {} \;`: "deploy/prod.json",
	} {
		if got := found(line); got != want {
			t.Errorf("%s finds %q, want %q", line, got, want)
		}
	}
	for _, line := range []string{
		"cat *.json", "cat src/*", "cat certs/R*", "ls certs/*", "stat certs/*", "echo certs/*", "grep -r x .", "grep -r x *", "rg x", "rg x certs", "find . -type f | xargs grep x", "find . -type f -exec grep -l x {} +",
		"find . -name '*.go' -exec cat {} +", `find . -path ./x -prune -o -name '*.go' -print | xargs cat`, `find . \( -name '*.go' -o -name '*.md' \) | xargs head`, `find . -type d -exec cat {}/README \;`,
		"git ls-files | xargs cat", "find src -type f -exec cat {} +", "find . -type f | xargs wc -l", "find certs -type f", "find certs -type f | xargs ls -l", "cat conf/*", "cat nosuch/*",
	} {
		if got := found(line); got != "" {
			t.Errorf("%s finds %q", line, got)
		}
	}
}
