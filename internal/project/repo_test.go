package project

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// tempDir returns a canonical temporary folder.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// clock counts the git commands of all tests.
var clock atomic.Int64

// gitIn runs git in a folder and returns its output.
func gitIn(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		// Commits of the same second have no order in time, and make git walk further.
		fmt.Sprintf("GIT_COMMITTER_DATE=%d +0000", 1700000000+60*clock.Add(1)))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// newRepo makes a repository with one commit, whose message distinguishes it from others.
func newRepo(t testing.TB, dir, message string) string {
	t.Helper()
	mkdir(t, dir)
	gitIn(t, dir, "init", "-q", "-b", "main")
	return commit(t, dir, message)
}

func commit(t testing.TB, dir, message string) string {
	t.Helper()
	gitIn(t, dir, "commit", "-q", "--allow-empty", "-m", message)
	return gitIn(t, dir, "rev-parse", "HEAD")
}

func mkdir(t testing.TB, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func write(t testing.TB, name, text string) {
	t.Helper()
	mkdir(t, filepath.Dir(name))
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t testing.TB, target, name string) {
	t.Helper()
	mkdir(t, filepath.Dir(name))
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, dir string, o Options) *Project {
	t.Helper()
	p, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func hasNote(p *Project, text string) bool {
	return slices.ContainsFunc(p.Notes, func(note string) bool { return strings.Contains(note, text) })
}
