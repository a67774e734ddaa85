package gitdir

import (
	"crypto/sha1"
	"crypto/sha256"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A file counts as tracked while its content matches the index, with either hash.
func TestTracked(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		git := func(args ...string) {
			cmd := exec.Command("git", append([]string{"-C", dir, "-c", "core.autocrlf=false"}, args...)...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v %s", args, err, out)
			}
		}
		git("init", "-q", "--object-format="+format)
		if err := os.MkdirAll(filepath.Join(dir, "a/b"), 0o700); err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, name := range []string{"same.pem", "a/b/same.key", "changed.pem", "new.pem", "forged.pem"} {
			paths = append(paths, filepath.Join(dir, name))
			if err := os.WriteFile(filepath.Join(dir, name), []byte("content of "+name), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		git("add", "same.pem", "a", "changed.pem")
		git("update-index", "--add", "--cacheinfo", "100644,"+map[string]string{"sha1": "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "sha256": "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"}[format]+",forged.pem")
		if err := os.WriteFile(filepath.Join(dir, "changed.pem"), []byte("other"), 0o600); err != nil {
			t.Fatal(err)
		}
		got := Tracked(append(paths, filepath.Join(dir, "missing.pem"), "/nowhere/x.pem"), sha1.New, sha256.New)
		if len(got) != 2 || !got[paths[0]] || !got[paths[1]] {
			t.Errorf("%s: %v", format, got)
		}
	}
}
