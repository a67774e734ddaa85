package judge

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire/place"
)

// git runs git in a folder, by no settings but its own.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// repository makes a clone with a commit of a package.json.
func repository(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	root := filepath.Join(t.TempDir(), "clone")
	write(t, root, "package.json", `{"scripts": {"test": "jest"}}`)
	write(t, root, "sub/a.js", "")
	git(t, root, "init", "-q")
	commit(t, root)
	return root
}

func commit(t *testing.T, dir string) {
	t.Helper()
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "x")
}

func bounds(t *testing.T, dir string) *place.Bounds {
	t.Helper()
	g, err := place.Open(dir, place.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestTrustOfClones: the trust in one place, and whether it holds in another.
func TestTrustOfClones(t *testing.T) {
	t.Parallel()
	worktree := func(t *testing.T, root string, args ...string) string {
		t.Helper()
		path := filepath.Join(filepath.Dir(root), "worktree")
		git(t, root, append(append([]string{"worktree", "add", "-q"}, args...), path)...)
		return path
	}
	for name, tt := range map[string]struct {
		change func(t *testing.T, root string) (dir string)
		want   bool
	}{
		"the clone":       {func(_ *testing.T, root string) string { return root }, true},
		"a folder of it":  {func(_ *testing.T, root string) string { return filepath.Join(root, "sub") }, true},
		"a worktree":      {func(t *testing.T, root string) string { return worktree(t, root, "-b", "x") }, true},
		"a detached one":  {func(t *testing.T, root string) string { return worktree(t, root, "--detach") }, true},
		"a folder of one": {func(t *testing.T, root string) string { return filepath.Join(worktree(t, root, "-b", "x"), "sub") }, true},
		"a commit of its own": {func(t *testing.T, root string) string {
			dir := worktree(t, root, "-b", "x")
			write(t, dir, "b.js", "")
			commit(t, dir)
			return dir
		}, true},
		"another script": {func(t *testing.T, root string) string {
			dir := worktree(t, root, "-b", "x")
			write(t, dir, "package.json", `{"scripts": {"test": "evil"}}`)
			return dir
		}, false},
		"another file that names code": {func(t *testing.T, root string) string {
			dir := worktree(t, root, "-b", "x")
			write(t, dir, "sub/conftest.py", "")
			return dir
		}, false},
		"another commit": {func(t *testing.T, root string) string {
			git(t, root, "checkout", "-q", "-b", "evil")
			write(t, root, "sub/a.js", "evil")
			commit(t, root)
			git(t, root, "checkout", "-q", "main")
			dir := worktree(t, root, "--detach")
			git(t, dir, "checkout", "-q", "evil")
			return dir
		}, false},
		"a pull into it": {func(t *testing.T, root string) string {
			dir := worktree(t, root, "-b", "x")
			write(t, root, "sub/a.js", "evil")
			commit(t, root)
			git(t, dir, "merge", "-q", "main")
			return dir
		}, false},
		"a moved clone": {func(t *testing.T, root string) string {
			moved := root + "-moved"
			if err := os.Rename(root, moved); err != nil {
				t.Fatal(err)
			}
			return moved
		}, false},
		"a copy": {func(t *testing.T, root string) string {
			git(t, filepath.Dir(root), "clone", "-q", root, "copy")
			return filepath.Join(filepath.Dir(root), "copy")
		}, false},
		"another clone at its place": {func(t *testing.T, root string) string {
			origin, fresh := root+"-origin", root+"-fresh"
			git(t, filepath.Dir(root), "clone", "-q", root, origin)
			write(t, origin, "sub/a.js", "evil")
			commit(t, origin)
			git(t, filepath.Dir(root), "clone", "-q", origin, fresh)
			if err := os.RemoveAll(root); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(fresh, root); err != nil {
				t.Fatal(err)
			}
			return root
		}, false},
		"a clone within it": {func(t *testing.T, root string) string {
			git(t, root, "clone", "-q", root, "sub/inner")
			return filepath.Join(root, "sub", "inner")
		}, false},
		"beside a clone within it": {func(t *testing.T, root string) string {
			git(t, root, "clone", "-q", root, "sub/inner")
			return root
		}, false},
		"a submodule": {func(t *testing.T, root string) string {
			git(t, root, "submodule", "--quiet", "add", root, "module")
			return filepath.Join(root, "module")
		}, false},
		"beside a submodule": {func(t *testing.T, root string) string {
			git(t, root, "submodule", "--quiet", "add", root, "module")
			return root
		}, false},
		"a forged worktree": {func(t *testing.T, root string) string {
			dir := filepath.Join(filepath.Dir(root), "forged")
			write(t, dir, "package.json", `{"scripts": {"test": "jest"}}`)
			write(t, dir, ".git", "gitdir: "+worktreeDir(t, root, worktree(t, root, "-b", "x"))+"\n")
			return dir
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := repository(t)
			l := &CodeLedger{Dir: filepath.Join(t.TempDir(), "trusted"), Digest: sum}
			if _, err := l.Grant(bounds(t, root)); err != nil {
				t.Fatal(err)
			}
			dir := tt.change(t, root)
			g := bounds(t, dir)
			if why := l.Check(g, []string{dir}); (why == "") != tt.want {
				t.Fatalf("%q", why)
			}
			if !tt.want || g.Root == root {
				return
			}
			// Its own from now on: a change in one ends nothing in the other, and the trust
			// is withdrawn in both.
			write(t, root, "package.json", `{"scripts": {"test": "evil"}}`)
			if why := l.Check(g, []string{dir}); why != "" {
				t.Errorf("after a change elsewhere: %s", why)
			}
			if why := l.Check(bounds(t, root), []string{root}); why == "" {
				t.Error("the change is trusted")
			}
			if was, err := l.Forget(g); err != nil || !was {
				t.Error(was, err)
			}
			write(t, root, "package.json", `{"scripts": {"test": "jest"}}`)
			for _, dir := range []string{root, dir} {
				if why := l.Check(bounds(t, dir), []string{dir}); why == "" {
					t.Errorf("%s: trusted after it was taken back", dir)
				}
			}
		})
	}
}

// worktreeDir is where git keeps what belongs to a worktree.
func worktreeDir(t *testing.T, root, path string) string {
	t.Helper()
	return filepath.Join(root, ".git", "worktrees", filepath.Base(path))
}

// TestConfirmationsStay: what a person approved in one worktree says nothing of what an
// agent wrote in another.
func TestConfirmationsStay(t *testing.T) {
	t.Parallel()
	root := repository(t)
	at := time.Now().Add(-time.Hour)
	l := &CodeLedger{Dir: filepath.Join(t.TempDir(), "trusted"), Digest: sum, Now: func() time.Time { return at }}
	main := bounds(t, root)
	if _, err := l.Grant(main); err != nil {
		t.Fatal(err)
	}
	if err := l.Confirm(main, at.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	git(t, root, "worktree", "add", "-q", "-b", "x", root+"-x")
	g := bounds(t, root+"-x")
	if why := l.Check(g, []string{g.Root}); why != "" {
		t.Fatal(why)
	}
	if got := l.Confirmed(g); !got.Equal(at) {
		t.Errorf("confirmed at %v, and the trust is of %v", got, at)
	}
	if got := l.Confirmed(main); !got.Equal(at.Add(time.Minute)) {
		t.Errorf("the clone's own confirmation: %v", got)
	}
}

// TestFoldersWithoutRepository share no clone.
func TestFoldersWithoutRepository(t *testing.T) {
	t.Parallel()
	g, l := clone(t)
	if _, err := l.Grant(g); err != nil {
		t.Fatal(err)
	}
	other, _ := clone(t)
	if why := l.Check(other, []string{other.Root}); why == "" {
		t.Error("a folder with the same files is trusted")
	}
}
