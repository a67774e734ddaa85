package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire/internal/cli/app"
)

// TestWeek: stats --week compares the last seven days with the seven before, and counts nothing older.
func TestWeek(t *testing.T) {
	t.Parallel()
	home, project := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(project, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": home, "UMPIRE_HOME": filepath.Join(home, ".umpire")}
	begun := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	run := func(day int, stdin string, args ...string) string {
		var out, problems strings.Builder
		code := runProgram(t.Context(), app.Surroundings{
			Args: args, Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &problems, Dir: project,
			Getenv: func(name string) string { return env[name] },
			Now:    func() time.Time { return begun.AddDate(0, 0, day) },
		})
		if code != 0 {
			t.Fatalf("%v: %d %s%s", args, code, out.String(), problems.String())
		}
		return out.String()
	}
	script := filepath.Join(home, "script.json")
	if err := os.WriteFile(script, []byte(`[{"calls": [{"id": "c1", "tool": "LS", "input": {"path": "."}}]}, {"text": "done"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, day := range []int{0, 6, 8, 14} {
		run(day, "", "run", "--model", "script:"+script, "go")
	}
	got := run(15, "", "stats", "--week")
	for _, want := range []string{
		"2 calls since 2026-05-09", "the week before: 1 call, 0.0 questions in 100 calls",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	if got := run(8, "", "stats", "--week", "--json"); !strings.Contains(got, `"week_before":{"calls":1`) {
		t.Error(got)
	}
	if got := run(1, "", "stats", "--week"); strings.Contains(got, "before") {
		t.Error(got)
	}
}
