package host

import (
	"os"
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
		err := brought(getenv, row.project, row.project)
		if got := err != nil; got != (row.want != "") || got && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
	}
}
