package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/internal/cli/app"
)

// initProgram returns umpire in a home where it may register itself.
func initProgram(t *testing.T) (p *program, settings string) {
	t.Helper()
	p = newProgram(t, nil)
	p.Executable = filepath.Join(t.TempDir(), "umpire")
	if err := os.WriteFile(p.Executable, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	return p, filepath.Join(p.Getenv("HOME"), ".claude", "settings.json")
}

func (p *program) must(t *testing.T, args ...string) {
	t.Helper()
	s := p.Surroundings
	s.Args = args
	if code := runProgram(t.Context(), s); code != app.ExitDone {
		t.Fatalf("umpire %q: exit %d\n%s", args, code, p.err)
	}
}

func TestInitUndoIsByteForByte(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty": "", "blank": " \n", "object": "{}", "object and newline": "{}\n", "spread": "{\n}\n",
		"one line": `{"a":1}`, "tabs": "{\n\t\"a\": 1\n}\n", "carriage returns": "{\r\n  \"a\": 1\r\n}\r\n",
		"empty hooks": `{"hooks":{}}`, "empty event": `{"hooks": {"PreToolUse": []}, "z": null}`, "no newline": "{\n  \"a\": 1\n}",
		"others": `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "x"}]}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, settings := initProgram(t)
			if err := os.MkdirAll(filepath.Dir(settings), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			p.must(t, "setup", "claude")
			first, _ := os.ReadFile(settings)
			p.must(t, "setup", "claude")
			if second, _ := os.ReadFile(settings); string(second) != string(first) {
				t.Errorf("twice is not once:\n%s\n%s", first, second)
			}
			p.must(t, "setup", "claude", "--undo")
			if got, err := os.ReadFile(settings); err != nil || string(got) != text {
				t.Errorf("got %q, %v, want %q", got, err, text)
			}
		})
	}
}

// TestInitUndoKeepsLaterChanges: undo must not overwrite the user's later changes with
// the content recorded at install.
func TestInitUndoKeepsLaterChanges(t *testing.T) {
	t.Parallel()
	p, settings := initProgram(t)
	p.must(t, "setup", "claude")
	installed, _ := os.ReadFile(settings)
	changed := strings.Replace(string(installed), "{\n", "{\n  \"model\": \"opus\",\n", 1)
	if err := os.WriteFile(settings, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	p.must(t, "setup", "claude", "--undo")
	if got, _ := os.ReadFile(settings); !strings.Contains(string(got), "opus") || strings.Contains(string(got), "umpire") {
		t.Errorf("%s", got)
	}
}

// TestInitTakesTheSmallHook: if umpire-hook is next to umpire, agents start it.
func TestInitTakesTheSmallHook(t *testing.T) {
	t.Parallel()
	p, settings := initProgram(t)
	small := filepath.Join(filepath.Dir(p.Executable), "umpire-hook")
	for _, stands := range []bool{false, true} {
		want := p.Executable
		if stands {
			want = small
			if err := os.WriteFile(small, nil, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		p.must(t, "setup", "claude")
		got, err := os.ReadFile(settings)
		if err != nil || !strings.Contains(string(got), `"command": "`+want+`"`) || strings.Count(string(got), small) != 0 && !stands {
			t.Errorf("umpire-hook stands there: %t: %v\n%s", stands, err, got)
		}
	}
}
