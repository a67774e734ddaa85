package retention

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func TestOutputs(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	root := t.TempDir()
	for name, text := range map[string]string{
		".gitignore": "node_modules/\n/dist\ntarget\nnotes\n", "dist/tracked.js": "x", "dist/a.js": "x",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	later := time.Now().Add(time.Minute)
	if Outputs(root, later)(filepath.Join(root, "dist/a.js")) {
		t.Error("a folder without a repository has outputs")
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-f", "dist/tracked.js"}} {
		if out, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	isOutput, before := Outputs(root, later), Outputs(root, time.Now().Add(-time.Hour))
	for name, want := range map[string]bool{
		"node_modules/a/index.js": true, "web/node_modules/a.js": true, "dist/a.js": true, "target/debug/deep/a.o": true,
		"dist/tracked.js": false, "notes/a.txt": false, "src/a.go": false, "web/dist/a.js": false, "build/a": false,
		"node_modules": false, "../node_modules/a": false, "target": false,
	} {
		if got := isOutput(filepath.Join(root, name)); got != want {
			t.Errorf("%s: %t", name, got)
		}
		if before(filepath.Join(root, name)) {
			t.Errorf("%s counts by a .gitignore that is newer than the record", name)
		}
	}
}
