package gate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/internal/project"
)

// BenchmarkReload10000 measures a change of a file with 10,000 rules: reading the file, checking
// each rule, and compiling them to a policy.
func BenchmarkReload10000(b *testing.B) {
	home := b.TempDir()
	writeManyRules(b, home, 10_000)
	p := &Project{Project: &project.Project{}}
	p.Root, p.Home, p.config.Home = b.TempDir(), home, filepath.Join(home, ".umpire")
	p.load()
	b.ReportAllocs()
	for b.Loop() {
		p.reload()
		if n := len(p.Rules().Rules); n != 10_000 || p.policy() == nil {
			b.Fatal(n)
		}
	}
}

// writeManyRules writes a person's file with command prefixes and paths, of which every fifth denies.
func writeManyRules(t testing.TB, home string, n int) {
	t.Helper()
	lines := make([]string, n)
	for i := range lines {
		action, match := "allow", fmt.Sprintf(`"tool": "Bash", "match": {"commandPrefix": "cmd%d sub%d"}`, i, i%7)
		if i%2 == 1 {
			match = fmt.Sprintf(`"tool": "Edit", "match": {"pathGlob": "/home/u/proj/pkg%d/src%d/**/*.go"}`, i%97, i)
		}
		if i%5 == 4 {
			action = "deny"
		}
		lines[i] = fmt.Sprintf(`    {"id": "r%d", "action": %q, %s}`, i, action, match)
	}
	path := filepath.Join(home, ".umpire", "permissions.json")
	text := "{\n  \"version\": 1,\n  \"rules\": [\n" + strings.Join(lines, ",\n") + "\n  ]\n}\n"
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
