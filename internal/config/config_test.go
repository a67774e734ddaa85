package config

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

// readBoth reads a user's and a project's file over the defaults.
func readBoth(t *testing.T, user, project string) (*Config, error) {
	t.Helper()
	dir := t.TempDir()
	c := Defaults()
	for i, text := range []string{user, project} {
		file := filepath.Join(dir, []string{"user.yaml", "project.yaml"}[i])
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := c.read(file, i == 1); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// A project's file comes with a clone: what is tighter counts, the rest is told
// and ignored.
func TestProjectOnlyTightens(t *testing.T) {
	t.Parallel()
	tests := []struct{ key, user, project, want string }{
		{"mode", "", "mode: ask", "ask"},
		{"mode", "", "mode: plan", "plan"},
		{"mode", "", "mode: reject", "reject"},
		{"mode", "", "mode: auto", "default"},
		{"mode", "", "mode: bypass", "default"},
		{"mode", "mode: ask", "mode: default", "ask"},
		{"mode", "mode: reject", "mode: ask", "reject"},
		{"mode", "mode: bypass", "mode: default", "default"},
		{"risk.medium", "", "risk.medium: allow", "ask"},
		{"risk.medium", "risk.medium: allow", "risk: {medium: ask}", "ask"},
		{"security.permission.enforce_gateway", "", "security.permission.enforce_gateway: false", "true"},
		{"security.permission.enforce_gateway", "security.permission.enforce_gateway: false", "security.permission.enforce_gateway: true", "true"},
		{"security.external_directory.default_action", "", "security.external_directory.default_action: deny", "deny"},
		{"security.external_directory.default_action", "security.external_directory.default_action: deny", "security.external_directory.default_action: ask", "deny"},
		{"session.cross_project.allow", "", "session.cross_project.allow: true", "false"},
		{"rules.precedence", "", "rules.precedence: deny,allow,ask", "deny,ask,allow"},
		{"rules.also_read", "rules.also_read: [~/a.json]", "rules.also_read: [~/a.json, b.json]", "[~/a.json b.json]"},
		{"rules.also_read", "rules.also_read: [~/a.json]", "rules.also_read: [b.json]", "[~/a.json]"},
		{"rules.also_read", "", "rules.also_read: [/etc/b.json]", "[]"},
		{"rules.also_read", "", "rules.also_read: [../b.json]", "[]"},
		{"rules.also_read", "", "rules.also_read: [~/b.json]", "[]"},
		{"auto.max_denials", "", "auto.max_denials: 5", "5"},
		{"auto.max_denials", "", "auto.max_denials: 50", "20"},
		{"auto.remember", "", "auto.remember: 1h", "1h"},
		{"auto.remember", "", "auto.remember: 8000h", "720h"},
		{"hook.deadline", "", "hook.deadline: 1s", "host timeout - 5s"},
		{"hook.when_asked", "", "hook.when_asked: native", "hold"},
		{"pending.timeout", "", "pending.timeout: 10m", "10m"},
		{"pending.timeout", "pending.timeout: 10m", "pending.timeout: 20m", "10m"},
		{"sandbox.mode", "", "sandbox.mode: full-access", "workspace-write"},
		{"sandbox.mode", "", "sandbox.mode: read-only", "read-only"},
		{"sandbox.require", "", "sandbox.require: \"off\"", "strict"},
		{"sandbox.network", "", "sandbox.network: true", "false"},
		{"hooks", "", "hooks: {PreToolUse: [{command: ./evil}]}", "map[]"},
		{"listen", "", "listen: 0.0.0.0:80", "unix socket in state/"},
		{"agents", "", "agents: {main: {tools: [Read]}}", "map[main:{[Read] []  }]"},
	}
	for _, test := range tests {
		t.Run(test.key+" "+test.project, func(t *testing.T) {
			t.Parallel()
			c, err := readBoth(t, test.user, test.project)
			if err != nil {
				t.Fatal(err)
			}
			s, err := keyOf(test.key)
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprint(s.Value(c))
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			ignored := c.Sources[test.key] == "" || !strings.HasSuffix(c.Sources[test.key], "project.yaml")
			if told := len(c.Notices) > 0; told != ignored {
				t.Errorf("ignored %v, notices %q", ignored, c.Notices)
			}
		})
	}
}

func TestAgentsOnlyNarrow(t *testing.T) {
	t.Parallel()
	user := "agents: {main: {tools: [Read, Edit], editableFileSuffixes: [.md, .txt]}}"
	tests := []struct {
		name, project string
		narrower      bool
	}{
		{"fewer tools", "agents: {main: {tools: [Read], editableFileSuffixes: [.md]}}", true},
		{"more tools", "agents: {main: {tools: [Read, Bash], editableFileSuffixes: [.md]}}", false},
		{"no limit of tools", "agents: {main: {editableFileSuffixes: [.md]}}", false},
		{"no limit of suffixes", "agents: {main: {tools: [Read]}}", false},
		{"suffixes that mean none", "agents: {main: {tools: [Read], editableFileSuffixes: ['.']}}", false},
		{"suffixes in another form", "agents: {main: {tools: [Read], editableFileSuffixes: [MD]}}", true},
		{"other suffixes", "agents: {main: {tools: [Read], editableFileSuffixes: [.py]}}", false},
		{"the agent left out", "agents: {other: {tools: [Read]}}", false},
		{"another agent beside it", "agents: {main: {tools: [Read], editableFileSuffixes: [.md]}, other: {tools: [], editableFileSuffixes: [.md]}}", true},
		{"another agent with more tools", "agents: {main: {tools: [Read, Edit], editableFileSuffixes: [.md]}, other: {editableFileSuffixes: [.md]}}", false},
		{"another agent with more suffixes", "agents: {main: {tools: [Read, Edit], editableFileSuffixes: [.md]}, other: {tools: [Edit]}}", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, err := readBoth(t, user, test.project)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(c.Notices) == 0; got != test.narrower {
				t.Errorf("taken %v, want %v: %v", got, test.narrower, c.Agents)
			}
		})
	}
}

// TestToolsOnlyNarrow: a project may name tools that the person's patterns list, and
// no pattern that could list more.
func TestToolsOnlyNarrow(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		was, is  []string
		narrower bool
	}{
		{nil, []string{"Bash"}, true},
		{[]string{"Read"}, nil, false},
		{[]string{"*"}, []string{"Read", "mcp__x__*"}, true},
		{[]string{"Git*", "Read"}, []string{"GitLog", "Git*"}, true},
		{[]string{"Re?d"}, []string{"Re*d"}, false},
		{[]string{"Git*"}, []string{"G*"}, false},
		{[]string{"Read"}, []string{}, true},
	} {
		if got := narrowerTools(test.was, test.is); got != test.narrower {
			t.Errorf("%q to %q: %v", test.was, test.is, got)
		}
	}
}

// TestSuffixNotices: a list that limits nothing is not passed over in silence.
func TestSuffixNotices(t *testing.T) {
	t.Parallel()
	c, err := readBoth(t, "agents: {main: {editableFileSuffixes: ['.', ' ']}, a: {editableFileSuffixes: [test.ts, .md]}, b: {editableFileSuffixes: []}}", "")
	if err != nil {
		t.Fatal(err)
	}
	notices := c.suffixNotices()
	if len(notices) != 2 {
		t.Fatalf("notices %v", notices)
	}
	for i, want := range []string{`".test.ts" in agents.a.editableFileSuffixes fits no file`, "no item of agents.main.editableFileSuffixes is a suffix, so that EVERY file may be edited"} {
		if got := notices[i].In(func(text string) string { return text }); !strings.Contains(got, want) {
			t.Errorf("notice %q, want %q", got, want)
		}
	}
}

// What cannot be understood is an error that says where.
func TestConfigErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"a key near another", "risk:\n  medum: ask", `:2: key "risk.medum" is not known; did you mean "risk.medium"?`},
		{"a key near none", "colour: red", `:1: key "colour" is not known`},
		{"a word of another set", "risk.medium: deny", `:1: risk.medium: "deny": want one of ask, allow`},
		{"a text for a number", "auto.max_denials: many", ":1: auto.max_denials: "},
		{"none", "auto.max_denials: 0", "want at least 1"},
		{"a number for a duration", "pending.timeout: 10", "want a duration"},
		{"a text for a switch", "sandbox.network: maybe", ":1: sandbox.network: "},
		{"a list at the top", "- mode", "want a mapping"},
		{"no YAML", "mode: [", "line 1"},
		{"an alias", "mode: &m ask\nlang: *m", "without aliases"},
		{"a key twice", "mode: ask\nmode: plan", `:2: key "mode" stands twice`},
		{"a key twice, once nested", "risk.medium: ask\nrisk:\n  medium: allow", `:3: key "risk.medium" stands twice`},
		{"an agent's key", "agents: {main: {tolls: []}}", `key "tolls" is not known`},
		{"bytes that are no text", "mode: \xff", "not valid UTF-8"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := readBoth(t, test.text, "")
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "user.yaml") {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// Every mode has its line in the table, and may stay as it is.
func TestTighterModes(t *testing.T) {
	t.Parallel()
	for m := umpire.ModeReject; m <= umpire.ModeBypass; m++ {
		if int(m) >= len(tighterModes) || len(tighterModes[m]) == 0 {
			t.Fatalf("mode %s has no line", m)
		}
		for _, next := range tighterModes[m] {
			if next == umpire.ModeBypass && m != umpire.ModeBypass {
				t.Errorf("%s is called tighter than %s", next, m)
			}
		}
	}
}

// A configuration can start programs and switch the mode: one that everybody can write
// is nobody's.
func TestConfigurationThatEverybodyCanWrite(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing about access here")
	}
	home := t.TempDir()
	file := filepath.Join(home, FileName)
	if err := os.WriteFile(file, []byte("mode: bypass\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := User(home); err != nil || c.Mode != umpire.ModeBypass {
		t.Fatal(c, err)
	}
	if err := os.Chmod(file, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := User(home); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
		t.Errorf("it is read: %v", err)
	}
}
