package trial

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	weigh := func(made time.Time, deleted bool, name string) (r undoRecord) {
		r.Time = made
		newUndoProject(root).weigh(&r, []oldContent{{Path: filepath.Join(root, name), Bytes: 1, Deleted: deleted}})
		return r
	}
	later, soon, before := time.Now().Add(25*time.Hour), time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	if r := weigh(later, false, "dist/a.js"); r.Outputs || !r.Alone {
		t.Errorf("without a repository: %+v", r)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-f", "dist/tracked.js"}} {
		if out, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	for name, want := range map[string]bool{
		"node_modules/a/index.js": true, "web/node_modules/a.js": true, "dist/a.js": true, "target/debug/deep/a.o": true,
		"dist/tracked.js": false, "notes/a.txt": false, "src/a.go": false, "web/dist/a.js": false, "build/a": false,
		"node_modules": false, "../node_modules/a": false, "target": false,
	} {
		for _, deleted := range []bool{false, true} {
			alone := !want && (deleted || name != "dist/tracked.js")
			if r := weigh(later, deleted, name); r.Outputs != want || r.Alone != alone || !r.Holds || r.Bytes != 1 {
				t.Errorf("%s, deleted %t: %+v", name, deleted, r)
			}
		}
		if weigh(before, false, name).Outputs {
			t.Errorf("%s counts by a .gitignore that is newer than the record", name)
		}
		if weigh(soon, false, name).Outputs {
			t.Errorf("%s counts by a .gitignore that was changed an hour before the record", name)
		}
	}
}

// TestOutputsOfClones checks that the .gitignore of a fresh clone counts at once, until it is changed.
func TestOutputsOfClones(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	from, root := t.TempDir(), filepath.Join(t.TempDir(), "clone")
	if err := os.WriteFile(filepath.Join(from, ".gitignore"), []byte("dist\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"-C", from, "init", "-q"}, {"-C", from, "add", ".gitignore"},
		{"-C", from, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "first"},
		{"-c", "user.name=a", "-c", "user.email=a@b.c", "clone", "-q", from, root},
	} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	isOutput := func() bool {
		r := undoRecord{Time: time.Now().Add(time.Second)}
		newUndoProject(root).weigh(&r, []oldContent{{Path: filepath.Join(root, "dist/a.js"), Bytes: 1, Deleted: true}})
		return r.Outputs
	}
	if !isOutput() {
		t.Error("a fresh clone's .gitignore does not count")
	}
	log := filepath.Join(root, ".git/logs/HEAD")
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	earlier := regexp.MustCompile(`> \d+ `).ReplaceAll(text, []byte("> 1700000000 "))
	if err := os.WriteFile(log, earlier, 0o600); err != nil {
		t.Fatal(err)
	}
	if isOutput() {
		t.Error("a .gitignore that changed long after the clone counts at once")
	}
}
