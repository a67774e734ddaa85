package host

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A project cannot bring the folder that umpire decides by.
func TestFolderThatCameWithTheProject(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	clone, person := filepath.Join(base, "clone"), filepath.Join(base, "person")
	for _, folder := range []string{filepath.Join(clone, ".git", "objects"), filepath.Join(clone, ".git", "refs"), filepath.Join(clone, "sub"), filepath.Join(person, ".umpire"), filepath.Join(base, "clones")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(clone, filepath.Join(base, "link")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	for _, row := range []struct {
		name, home, umpire, project, want string
	}{
		{"in the person's home", person, "", clone, ""},
		{"named elsewhere", person, filepath.Join(base, "state"), clone, ""},
		{"beside a project of the same beginning", person, filepath.Join(base, "clones"), clone, ""},
		{"in the project", person, filepath.Join(clone, ".evil"), clone, "lies in the project"},
		{"above the folder that the agent started in", person, filepath.Join(clone, ".evil"), filepath.Join(clone, "sub"), "lies in the project"},
		{"through a link", person, filepath.Join(base, "link", ".evil"), clone, "lies in the project"},
		{"relative", person, ".evil", clone, "want an absolute path"},
		{"the home itself is another", clone, "", clone, "lies in the project"},
	} {
		getenv := func(name string) string {
			return map[string]string{"HOME": row.home, "UMPIRE_HOME": row.umpire}[name]
		}
		err := checkHome(getenv, row.project, row.project)
		if got := err != nil; got != (row.want != "") || got && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
	}
}

// A worktree and a repository inside another one are parts of one clone: the folders next to them
// came with it.
func TestFolderThatCameWithTheClone(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("needs git")
	}
	base := t.TempDir()
	run := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), git, append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	clone := filepath.Join(base, "clone")
	for _, dir := range []string{filepath.Join(clone, ".evil"), filepath.Join(base, "person"), filepath.Join(base, "state")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	run(clone, "init", "-q")
	run(clone, "commit", "-q", "--allow-empty", "-m", "x")
	inside, beside := filepath.Join(clone, ".claude", "worktrees", "w"), filepath.Join(base, "w")
	run(clone, "worktree", "add", "-q", "-b", "in", inside)
	run(clone, "worktree", "add", "-q", "-b", "be", beside)
	inner := filepath.Join(clone, "inner")
	run(clone, "init", "-q", "inner")
	for _, project := range []string{inside, beside, inner} {
		link := filepath.Join(project, ".u")
		if err := os.Symlink(filepath.Join(clone, ".evil"), link); err != nil {
			t.Fatal(err)
		}
		for _, named := range []string{filepath.Join(clone, ".evil"), link, filepath.Join(project, "x")} {
			getenv := func(name string) string {
				return map[string]string{"HOME": filepath.Join(base, "person"), "UMPIRE_HOME": named}[name]
			}
			if err := checkHome(getenv, project, project); err == nil {
				t.Errorf("project %s: %s was believed", project, named)
			}
			if err := checkHome(getenv, project, filepath.Join(base, "state"), project); err == nil {
				t.Errorf("project elsewhere, working in %s: %s was believed", project, named)
			}
		}
		fine := func(name string) string {
			return map[string]string{"HOME": filepath.Join(base, "person"), "UMPIRE_HOME": filepath.Join(base, "state")}[name]
		}
		if err := checkHome(fine, project, project); err != nil {
			t.Errorf("project %s: %v", project, err)
		}
	}
}
