package setup

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"

	"github.com/umpirehq/umpire/internal/config/strictjson"
)

var install = Hook{Command: "/usr/local/bin/umpire", Timeout: time.Hour}

const commented = `{
	// my model
	"model": "opus", /* the large one */
	"hooks": {
		"PreToolUse": [
			{"matcher": "Bash", "hooks": [{"type": "command", "command": "./lint.sh"}]}, // keep
		],
		"Notification": [{"hooks": [{"type": "command", "command": "bell"}]}]
	},
	"permissions": {"allow": ["Read(//tmp/**)"]} // last
}
`

func mustInstall(t testing.TB, settings string, o Hook) string {
	t.Helper()
	out, err := Claude.Install([]byte(settings), o)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func mustUninstall(t testing.TB, settings string) string {
	t.Helper()
	out, err := Claude.Uninstall([]byte(settings))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestInstallClaudeFile pins the file that a fresh install writes.
func TestInstallClaudeFile(t *testing.T) {
	t.Parallel()
	o := install
	o.OnFailureBlock, o.Timeout = true, 1500*time.Millisecond
	got := mustInstall(t, "", o)
	entry := func(event, matcher, timeout, more string) string {
		return `    "` + event + `": [
      {` + matcher + `
        "hooks": [
          {
            "type": "command",
            "command": "/usr/local/bin/umpire",
            "args": [
              "hook",
              "claude"
            ],
            "timeout": ` + timeout + more + `
          }
        ]
      }
    ]`
	}
	all, block := "\n        \"matcher\": \"*\",", ",\n            \"onFailure\": \"block\""
	want := "{\n  \"hooks\": {\n" + strings.Join([]string{
		entry("PreToolUse", all, "2", block), entry("PermissionRequest", all, "2", block),
		entry("PostToolUse", all, "2", ""), entry("PostToolUseFailure", all, "2", ""),
		entry("SessionStart", "", "2", ""), entry("UserPromptSubmit", "", "2", ""),
		entry("Stop", "", "2", ""), entry("SessionEnd", "", "2", ""),
	}, ",\n") + "\n  }\n}\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
}

func TestInstallClaudeKeepsTheRest(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string]string{
		"comments and tabs":  commented,
		"plain":              "{\n    \"model\": \"opus\",\n    \"env\": {}\n}",
		"one line":           `{"model":"opus","hooks":{"Stop":[]}}`,
		"windows lines":      "{\r\n  \"model\": \"opus\"\r\n}\r\n",
		"trailing comma":     "{\n  \"model\": \"opus\",\n}\n",
		"comment at the end": "{\n  \"model\": \"opus\" // here\n}\n",
		"only a comment":     "{ // nothing yet\n}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			once := mustInstall(t, settings, install)
			if len(AuditClaude([]byte(once))) != len(withoutMissing(AuditClaude([]byte(once)))) {
				t.Errorf("hooks are missing after the install:\n%s", once)
			}
			if twice := mustInstall(t, once, install); twice != once {
				t.Errorf("installing twice differs (-once +twice):\n%s", cmp.Diff(once, twice))
			}
			back := mustUninstall(t, once)
			if diff := cmp.Diff(meaning(t, settings), meaning(t, back)); diff != "" {
				t.Errorf("after uninstall (-want +got):\n%s", diff)
			}
			for _, comment := range []string{"// my model", "/* the large one */", "// keep", "// last", "// here", "// nothing yet"} {
				if strings.Contains(settings, comment) && !strings.Contains(once, comment) {
					t.Errorf("install lost %q", comment)
				}
				if strings.Contains(settings, comment) && !strings.Contains(back, comment) {
					t.Errorf("uninstall lost %q", comment)
				}
			}
			if strings.Contains(settings, "\r\n") && strings.Count(once, "\n") != strings.Count(once, "\r\n") {
				t.Error("line ends are mixed")
			}
		})
	}
}

func withoutMissing(findings []Finding) []Finding {
	var rest []Finding
	for _, f := range findings {
		if f.Code != FindingMissing {
			rest = append(rest, f)
		}
	}
	return rest
}

// TestRoundTripByteForByte: nothing at all is left of an install.
func TestRoundTripByteForByte(t *testing.T) {
	t.Parallel()
	for _, settings := range []string{commented, "{\n  \"model\": \"opus\"\n}\n", "{\n}\n", "{}", "{ // nothing yet\n}\n"} {
		if got := mustUninstall(t, mustInstall(t, settings, install)); got != settings {
			t.Errorf("(-want +got):\n%s", cmp.Diff(settings, got))
		}
	}
}

func TestInstallClaudeUpdates(t *testing.T) {
	t.Parallel()
	old := mustInstall(t, commented, Hook{Command: "/opt/old/umpire-hook", Timeout: time.Minute})
	now := mustInstall(t, old, install)
	if strings.Contains(now, "umpire-hook") || strings.Count(now, "/usr/local/bin/umpire") != len(claudeHooks.eventsOf("claude")) {
		t.Errorf("the old entries are not replaced:\n%s", now)
	}
	if !strings.Contains(now, "./lint.sh") {
		t.Error("another program's hook is gone")
	}
	narrowed := strings.Replace(now, `"matcher": "*"`, `"matcher": "Bash"`, 1)
	if got := mustInstall(t, narrowed, install); strings.Count(got, `"matcher": "*"`) != 4 {
		t.Errorf("a narrowed matcher stays:\n%s", got)
	}
}

func TestOwnEntries(t *testing.T) {
	t.Parallel()
	for handler, own := range map[string]bool{
		`{"type":"command","command":"/a/umpire","args":["hook","claude"]}`:                   true,
		`{"type":"command","command":"C:\\u\\umpire-hook.exe","args":["hook","claude","-v"]}`: true,
		`{"type":"command","command":"umpire hook claude"}`:                                   true,
		`{"command":"umpire","args":["hook","claude"]}`:                                       true,
		`{"type":"command","command":"/a/umpire","args":["hook","codex"]}`:                    false,
		`{"type":"command","command":"/a/umpire-lint","args":["hook","claude"]}`:              false,
		`{"type":"command","command":"/a/umpire","args":[]}`:                                  false,
		`{"type":"command","command":"echo umpire hook claude"}`:                              false,
		`{"type":"http","command":"/a/umpire","args":["hook","claude"]}`:                      false,
		`"umpire hook claude"`: false,
		`{"type":"command"}`:   false,
	} {
		settings := `{"hooks":{"Stop":[{"hooks":[` + handler + `]}]}}`
		if got := mustUninstall(t, settings) != settings; got != own {
			t.Errorf("%s: ours %v, want %v", handler, got, own)
		}
	}
}

func TestInstallClaudeRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, settings, want string
		o                    Hook
	}{
		{"broken", "{\n  \"a\": tru\n}", "line 2, column 8", install},
		{"a list", "[]", "line 1, column 1: want an object", install},
		{"hooks is a list", "{\n \"hooks\": []}", "line 2, column 11: hooks: want an object", install},
		{"event is an object", `{"hooks":{"Stop":{}}}`, "column 18: hooks.Stop: want a list", install},
		{"hooks twice", `{"hooks":{},"hooks":{}}`, `column 13: duplicate key "hooks"`, install},
		{"nesting", strings.Repeat("[", 1000), "line 1, column 65: nested deeper", install},
		{"size", strings.Repeat(" ", maxSettings+1), "larger", install},
		{"relative command", "", "absolute", Hook{Command: "umpire", Timeout: time.Second}},
		{"no timeout", "", "timeout", Hook{Command: "/umpire"}},
		{"not recognisable", "", "recognised", Hook{Command: "/bin/sh", Timeout: time.Second}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, err := Claude.Install([]byte(tt.settings), tt.o)
			if err == nil || !strings.Contains(err.Error(), tt.want) || out != nil {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

// meaning returns the content of a settings file, without empty hook lists and objects, which an
// uninstall drops.
func meaning(t testing.TB, settings string) any {
	t.Helper()
	if strings.TrimSpace(settings) == "" {
		return map[string]any{}
	}
	standard, err := hujson.Standardize([]byte(strings.TrimPrefix(settings, "\xef\xbb\xbf") + "\n"))
	if err != nil {
		t.Fatalf("%v in\n%s", err, settings)
	}
	var top map[string]any
	if err := json.Unmarshal(standard, &top); err != nil {
		t.Fatal(err)
	}
	hooks, _ := top["hooks"].(map[string]any)
	for event, list := range hooks {
		groups, ok := list.([]any)
		if ok && len(groups) == 0 {
			delete(hooks, event)
		}
	}
	if hooks != nil && len(hooks) == 0 {
		delete(top, "hooks")
	}
	return top
}

func FuzzInstallClaude(f *testing.F) {
	for _, seed := range []string{"", "{}", commented, `{"hooks":{"Stop":[]}}`, "{\"a\":1,// x\n}", `{"hooks":{"PreToolUse":[{"hooks":[{"command":"umpire hook claude"},1]}, 2 ,]}}`,
		"{/**/\"hooks\":{//\n}}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, settings []byte) {
		before := bytes.Clone(settings)
		once, err := Claude.Install(settings, install)
		if !bytes.Equal(before, settings) {
			t.Fatal("the input was changed")
		}
		AuditClaude(settings)
		if err != nil {
			return
		}
		if twice := mustInstall(t, string(once), install); twice != string(once) {
			t.Fatalf("installing twice differs:\n%s", cmp.Diff(string(once), twice))
		}
		// Our own entries of the original are gone in both.
		want, got := mustUninstall(t, string(settings)), mustUninstall(t, string(once))
		if duplicateNames(settings) {
			return
		}
		if diff := cmp.Diff(meaning(t, want), meaning(t, got)); diff != "" {
			t.Fatalf("install and uninstall (-want +got):\n%s\n%s", diff, once)
		}
	})
}

// duplicateNames reports whether an object in settings has a name twice, so
// that its meaning is anybody's guess.
func duplicateNames(settings []byte) bool {
	standard, err := hujson.Standardize(append(bytes.TrimPrefix(bytes.Clone(settings), []byte("\xef\xbb\xbf")), '\n'))
	if err != nil || len(bytes.TrimSpace(standard)) == 0 {
		return false
	}
	_, err = strictjson.ReadObject(standard)
	return err != nil
}
