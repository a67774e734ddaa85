package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// A level is written as its keys. It replaces existing keys in either form; everything else stays.
func TestLevelIsWrittenAsItsKeys(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{
		"nothing": "", "joined": "mode: ask # mine\nautonomy.edits: run\nautonomy.destinations: [a.example]\n",
		"nested": "autonomy:\n  edits: run # mine\n  destinations: [a.example]\nmode: ask\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), FileName)
			if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, level := range []policy.Level{policy.AutonomyHigh, policy.AutonomyMedium, policy.AutonomyLow} {
				if err := WriteAutonomy(file, level); err != nil {
					t.Fatal(err)
				}
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				c, err := readLayers(t, map[umpire.Source]string{umpire.SourceUser: string(data)})
				if err != nil {
					t.Fatalf("%v in:\n%s", err, data)
				}
				if got := c.AutonomyLevel(); got != level || c.Autonomy != level.Autonomy() {
					t.Errorf("level %q, want %q in:\n%s", got, level, data)
				}
				if before != "" && (c.Mode != umpire.ModeAsk || len(c.Destinations) != 1 || !strings.Contains(string(data), "# mine")) {
					t.Errorf("something else has changed:\n%s", data)
				}
			}
		})
	}
}

func TestLowIsTheDefault(t *testing.T) {
	t.Parallel()
	if got := defaults().AutonomyLevel(); got != policy.AutonomyLow {
		t.Errorf("got %q", got)
	}
	c := defaults()
	c.Autonomy.Edits = true
	if got := c.AutonomyLevel(); got != "" {
		t.Errorf("one key alone is the level %q", got)
	}
}
