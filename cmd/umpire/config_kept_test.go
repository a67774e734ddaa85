package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestKeptConfigIsAsFresh: a change of either file holds at the very next call, and
// what did not change is not read again.
func TestKeptConfigIsAsFresh(t *testing.T) {
	t.Parallel()
	p := newProgram(t, nil)
	k := &keptConfigs{app: &app{surroundings: p.surroundings}}
	mode := func() string {
		t.Helper()
		c, err := k.of(p.dir)
		if err != nil {
			t.Fatal(err)
		}
		again, err := k.of(p.dir)
		if err != nil || again.mode != c.mode {
			t.Fatalf("%v, then %v, %v", c.mode, again.mode, err)
		}
		return c.mode.String()
	}
	if got := mode(); got != "default" || len(k.byDir) != 1 {
		t.Errorf("mode %s, %d kept", got, len(k.byDir))
	}
	past := time.Now().Add(-time.Hour)
	files := []string{filepath.Join(p.getenv("HOME"), ".umpire", "config.yaml"), filepath.Join(p.dir, ".umpire", "config.yaml")}
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
	if _, err := k.of(p.dir); err == nil {
		t.Error("a broken file is passed over")
	}
}
