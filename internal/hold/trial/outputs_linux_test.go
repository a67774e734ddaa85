package trial

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A record is removable at once if its old content is ignored build output, and after a day if it has other content.
func TestRecordsOfOutputs(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	must(t, os.WriteFile(filepath.Join(root, ".gitignore"), []byte("node_modules/\n"), 0o600))
	if out, err := exec.Command("git", "-C", root, "init", "-q").CombinedOutput(); err != nil {
		t.Skipf("needs git: %v %s", err, out)
	}
	made := time.Now().Add(25 * time.Hour) // a new .gitignore does not count
	for _, c := range []struct {
		paths []string
		early time.Duration
	}{
		{[]string{"node_modules/a.js", "node_modules/b/c.js"}, 0},
		{[]string{"node_modules/a.js", "thesis.txt"}, 24 * time.Hour},
		{[]string{"thesis.txt"}, 24 * time.Hour},
	} {
		k := Kept{ID: "r", Root: root, Time: made}
		for _, path := range c.paths {
			k.Changes = append(k.Changes, Effect{
				Kind: Deleted, Path: filepath.Join(root, path), Before: Entry{Type: 0o600, Size: 5, Inode: 1, ModTime: made},
			})
		}
		early, late := k.Expires(UndoLimits{Bytes: 1 << 20, Age: 7 * 24 * time.Hour})
		if early.Sub(made) != c.early || late.Sub(made) != 7*24*time.Hour {
			t.Errorf("%v stays for %v, and at most for %v", c.paths, early.Sub(made), late.Sub(made))
		}
	}
}
