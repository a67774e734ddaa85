package gitdir_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/internal/files/gitdir"
)

// repository is made by these commands: main has kept, changed and gone; topic has made and a program too.
const repository = `
git init -q -b main .
printf 'kept\n' > kept; printf 'old\n' > changed; printf 'x\n' > gone
git add . && git commit -qm one
git switch -qc topic
printf 'new\n' > changed; rm gone; mkdir d; printf 'made\n' > d/made; printf '#!/bin/sh\n' > run; chmod +x run
git add -A && git commit -qm two
git switch -qc linked main
ln -s /etc/passwd link && git add link && git commit -qm three
git switch -q main
`

// The expected changes of each command: + is a new file with its mode, ! a changed file, - a
// deleted one. "" means no change. unknown means that Foresee cannot foresee it.
const unknown = "unknown"

var commands = []struct{ prepare, line, want string }{
	{"", "git switch topic", "!changed 644, +d/made 644, -gone 644, +run 755"},
	{"", "git checkout -q topic", "!changed 644, +d/made 644, -gone 644, +run 755"},
	{"git switch -q topic", "git switch -", "!changed 644, -d/made 644, +gone 644, -run 644"},
	{"", "git switch -c new", ""},
	{"", "git switch -c new topic", "!changed 644, +d/made 644, -gone 644, +run 755"},
	{"", "git switch --detach topic", "!changed 644, +d/made 644, -gone 644, +run 755"},
	{"mkdir d && echo mine > d/made", "git switch topic", unknown}, // git may overwrite ignored files
	{"", "git switch linked", unknown},
	{"", "git switch nosuch", unknown},
	{"", "git switch --force topic", unknown},
	{"", "git switch -C new topic", unknown},
	{"", "git checkout topic changed", unknown},
	{"", "git checkout changed", unknown},
	{"", "git switch topic..main", unknown},
	{"", "git switch --orphan new", unknown},
	{"", "git merge topic", unknown},
	{"echo mine > changed; echo a > other", "git stash", "!changed 644"},
	{"echo mine > changed; echo a > other", "git stash push -q -m x", "!changed 644"},
	{"echo mine > changed; echo a > other", "git stash -u", "!changed 644, -other 0"},
	{"echo mine > changed; git stash -q", "git stash apply", "!changed 644"},
	{"echo mine > changed; git stash -q", "git stash pop", unknown},
	{"echo a > other; git stash -qu", "git stash apply", unknown},
	{"", "git stash drop", unknown},
}

// TestBetween compares the foreseen changes with git's actual ones.
func TestBetween(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for _, c := range commands {
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			run(t, dir, repository+c.prepare)
			changes, known := gitdir.Foresee(t.Context(), dir, strings.Fields(c.line))
			got := unknown
			if known {
				lines := []string{}
				for _, change := range changes {
					name, err := filepath.Rel(dir, change.Path)
					if err != nil {
						t.Fatal(err)
					}
					mark := map[string]string{"created": "+", "changed": "!", "deleted": "-"}[string(change.Kind)]
					lines = append(lines, fmt.Sprintf("%s%s %o", mark, name, change.Mode))
				}
				got = strings.Join(lines, ", ")
			}
			if got != c.want {
				t.Fatalf("foreseen %s\nwant     %s", got, c.want)
			}
			if known {
				before := filesOf(t, dir)
				run(t, dir, c.line)
				var moved []string
				for name, text := range filesOf(t, dir) {
					if old, was := before[name]; !was || old != text {
						moved = append(moved, name)
					}
					delete(before, name)
				}
				for name := range before {
					if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
						moved = append(moved, name)
					}
				}
				if len(moved) != len(changes) {
					t.Errorf("git changed %v", moved)
				}
				for _, change := range changes {
					name, _ := filepath.Rel(dir, change.Path)
					if !slices.Contains(moved, name) {
						t.Errorf("git did not change %s", name)
					}
				}
			}
		})
	}
}

// filesOf returns the files of a work tree with their modes and contents.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			if e != nil && e.Name() == ".git" {
				return filepath.SkipDir
			}
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		found[name] = fmt.Sprint(info.Mode(), string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func run(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir+"/none", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.com")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
