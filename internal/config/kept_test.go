package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestKeptConfigIsAsFresh: a change of either file takes effect on the next call, and
// unchanged files are not read again.
func TestKeptConfigIsAsFresh(t *testing.T) {
	t.Parallel()
	home, root := t.TempDir(), t.TempDir()
	k := &Kept{Home: home, Read: func(dir string) (*Config, error) { return Read(home, dir) }}
	mode := func() string {
		t.Helper()
		c, err := k.Of(root)
		if err != nil {
			t.Fatal(err)
		}
		again, err := k.Of(root)
		if err != nil || again.Mode != c.Mode {
			t.Fatalf("%v, then %v, %v", c.Mode, again.Mode, err)
		}
		return c.Mode.String()
	}
	if got := mode(); got != "default" || len(k.byDir) != 1 {
		t.Errorf("mode %s, %d kept", got, len(k.byDir))
	}
	past := time.Now().Add(-time.Hour)
	files := []string{filepath.Join(home, FileName), filepath.Join(root, ".umpire", FileName)}
	for i, change := range []struct{ file, text, want string }{
		{files[0], "mode: auto\n", "auto"}, {files[0], "mode: ask \n", "ask"}, {files[0], "mode: auto\n", "auto"},
		{files[1], "mode: plan\n", "plan"}, {files[0], "mode: ask \n", "ask"},
	} {
		if err := os.MkdirAll(filepath.Dir(change.file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(change.file, []byte(change.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 { // else it is a file of this moment
			if err := os.Chtimes(change.file, past, past.Add(time.Duration(i)*time.Second)); err != nil {
				t.Fatal(err)
			}
		}
		if got := mode(); got != change.want {
			t.Errorf("change %d: mode %s, want %s", i, got, change.want)
		}
	}
	if err := os.WriteFile(files[0], []byte("mood: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Of(root); err == nil {
		t.Error("a broken file is passed over")
	}
}
