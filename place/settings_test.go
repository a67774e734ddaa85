package place

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A settings file is found in the folder and in every one above it, links resolved, up to the
// home, which is left out.
func TestSettingsFiles(t *testing.T) {
	t.Parallel()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	deep := filepath.Join(home, "src/p/a/b")
	if err := os.MkdirAll(filepath.Join(deep, ".cargo"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{".npmrc": "home", "src/p/.npmrc": "root", "src/p/a/b/.npmrc": "deep", "src/p/a/b/.cargo/config": "cargo"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(home, "link")
	if err := os.Symlink(deep, link); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{deep: "deep cargo root", link: "deep cargo root", filepath.Join(home, "src/p/a/new/x"): "root", home: "", filepath.Join(home, "src"): ""} {
		files, err := settingsFiles(dir, home, []string{".npmrc", ".cargo/config", ".yarnrc"})
		var got []string
		for _, f := range files {
			got = append(got, f.Text)
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %q, %v, want %q", dir, got, err, want)
		}
	}
}

// An unreadable settings file is an error.
func TestSettingsFilesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "long"), make([]byte, maxSettings+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"long", "folder"} {
		if files, err := settingsFiles(dir, "", []string{name}); err == nil {
			t.Errorf("%s: %v", name, files)
		}
	}
}
