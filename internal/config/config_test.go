package config

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

// readBoth reads a user's and a project's file over the defaults.
func readBoth(t *testing.T, user, project string) (*Config, error) {
	t.Helper()
	return readLayers(t, map[umpire.Source]string{umpire.SourceUser: user, umpire.SourceProject: project})
}

// readLayers reads the sources over the defaults, in order of precedence.
func readLayers(t *testing.T, texts map[umpire.Source]string) (*Config, error) {
	t.Helper()
	dir := t.TempDir()
	var files []file
	for _, source := range []umpire.Source{umpire.SourceManaged, umpire.SourceUser, umpire.SourceProject} {
		f := file{filepath.Join(dir, source.String()+".yaml"), source}
		if err := os.WriteFile(f.path, []byte(texts[source]), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return readFiles(files)
}

// A project's file comes with a clone: stricter settings count, and the rest is ignored
// with a notice.
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
		{"autonomy.edits", "autonomy.edits: run", "autonomy: {edits: ask}", "ask"},
		{"autonomy.edits", "", "autonomy.edits: run", "ask"},
		{"autonomy.unknown_code", "autonomy.unknown_code: trial", "autonomy.unknown_code: ask", "ask"},
		{"autonomy.destinations", "autonomy.destinations: [a.example, b.example]", "autonomy.destinations: [a.example]", "[a.example]"},
		{"autonomy.destinations", "autonomy.destinations: [a.example]", "autonomy.destinations: [b.example]", "[a.example]"},
		{"risk.medium", "risk.medium: allow", "risk: {medium: ask}", "ask"},
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
		{"auto.remember", "", "auto.remember: 2d", "48h"},
		{"auto.remember", "", "auto.remember: 8000h", "720h"},
		{"undo.max_size", "undo.max_size: 3KiB", "undo.max_size: 1B", "3KiB"},
		{"undo.max_age", "undo.max_age: 30d", "undo.max_age: 1h", "720h"},
		{"retention", "retention: 90d", "retention: 1h", "2160h"},
		{"hook.deadline", "", "hook.deadline: 1s", "host timeout - 5s"},
		{"hook.when_asked", "", "hook.when_asked: native", "auto"},
		{"hook.when_asked", "", "hook.when_asked: hold", "hold"},
		{"hook.rewrite", "", "hook.rewrite: off", "auto"},
		{"hook.turn_line", "", "hook.turn_line: off", "on"},
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
			if d, ok := s.Value(c).(time.Duration); ok {
				got = view.Duration(d)
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			ignored := c.Sources[test.key] == "" || !strings.HasSuffix(c.Sources[test.key], "project.yaml")
			if noticed := len(c.Notices) > 0; noticed != ignored {
				t.Errorf("ignored %v, notices %q", ignored, c.Notices)
			}
		})
	}
}

// For each key, a value that a project may set over the defaults ("" if the key is the
// person's alone), and one that it may not.
var projectKeys = map[string]struct{ tighter, ignored string }{
	"mode":                                       {"ask", "bypass"},
	"risk.medium":                                {"", "allow"},
	"autonomy.outside_reads":                     {"", "run"},
	"autonomy.scratch":                           {"", "inside"},
	"autonomy.edits":                             {"", "run"},
	"autonomy.unknown_code":                      {"", "trial"},
	"autonomy.deletes":                           {"", "trial"},
	"autonomy.local_git":                         {"", "run"},
	"autonomy.network":                           {"", "listed"},
	"autonomy.destinations":                      {"", "[evil.example]"},
	"security.permission.enforce_gateway":        {"true", ""}, // false is an error, below
	"security.external_directory.default_action": {"deny", ""},
	"session.cross_project.allow":                {"", "true"},
	"session.resume.scope":                       {"current_project", ""},
	"rules.precedence":                           {"", "deny,allow,ask"},
	"rules.also_read":                            {"[rules.json]", "[/etc/rules.json]"},
	"rules.off":                                  {"", "[etc-passwd]"},
	"auto.max_consecutive_denials":               {"1", "4"},
	"auto.max_denials":                           {"1", "21"},
	"auto.remember":                              {"1h", "721h"},
	"hook.deadline":                              {"", "1s"},
	"hook.when_asked":                            {"hold", "native"},
	"hook.rewrite":                               {"", "off"},
	"hook.turn_line":                             {"", "off"},
	"hook.observe":                               {"false", "true"},
	"pending.timeout":                            {"1m", "59s"},
	"pending.max_per_session":                    {"1", "101"},
	"sandbox.mode":                               {"read-only", "full-access"},
	"sandbox.require":                            {"", "degraded-ok"},
	"sandbox.network":                            {"", "true"},
	"sandbox.env":                                {"", "[GITHUB_TOKEN]"},
	"sandbox.show":                               {"", "[~/data]"},
	"undo.max_size":                              {"", "1B"},
	"undo.max_age":                               {"", "1h"},
	"retention":                                  {"", "1h"},
	"store":                                      {"", "postgres://evil.example/x"},
	"listen":                                     {"", "0.0.0.0:80"},
	"agents":                                     {"{main: {tools: [Read]}, other: {tools: []}}", ""},
	"hooks":                                      {"", "{PreToolUse: [{command: ./evil}]}"},
	"mcp_servers":                                {"", "{evil: {command: evil}}"},
	"notify":                                     {"", "{ntfy: {server: https://evil.example, topic: a-topic-that-is-long}}"},
	"network.proxy":                              {"", "127.0.0.1:7578"},
	"console":                                    {"", "{origin: https://evil.example, listen: 127.0.0.1:1}"},
	"watch.notify":                               {"", "off"},
	"lang":                                       {"", "zh-CN"},
}

// Every key says what a project may do with it: a project chooses no program, address or
// model, and loosens nothing.
func TestEveryKeyOfAProject(t *testing.T) {
	t.Parallel()
	for i := range Keys {
		name := Keys[i].Name
		row, listed := projectKeys[name]
		if !listed || row.tighter == "" && row.ignored == "" {
			t.Errorf("%s: nothing is said of what a project may do with it", name)
			continue
		}
		before := fmt.Sprint(Keys[i].Value(defaults()))
		if row.ignored != "" {
			c, err := readBoth(t, "", name+": "+row.ignored)
			if err != nil || fmt.Sprint(Keys[i].Value(c)) != before || len(c.Notices) != 1 || c.Source(name) != "default" {
				t.Errorf("%s: %s of a project counts, or is ignored in silence: %+v, %v", name, row.ignored, c, err)
			}
		}
		if row.tighter != "" {
			c, err := readBoth(t, "", name+": "+row.tighter)
			if err != nil || len(c.Notices) != 0 || !strings.HasSuffix(c.Source(name), "project.yaml") {
				t.Errorf("%s: %s of a project is ignored: %+v, %v", name, row.tighter, c, err)
			}
		}
	}
}

// Only a person chooses a model. A project's other settings of an agent count.
func TestAProjectChoosesNoModel(t *testing.T) {
	t.Parallel()
	for _, user := range []string{"", "agents: {main: {model: 'anthropic:claude'}}", "agents: {main: {model: 'anthropic:claude'}, worker: {tools: [Read, Grep], model: 'openai:gpt'}}"} {
		was, err := readBoth(t, user, "")
		if err != nil {
			t.Fatal(err)
		}
		c, err := readBoth(t, user, "agents: {main: {tools: [Read], model: 'script:.m.json'}, other: {tools: [Read], model: 'script:.m.json'}}")
		if err != nil {
			t.Fatal(err)
		}
		for name, agent := range c.Agents {
			if agent.Model != was.Agents[name].Model {
				t.Errorf("with %q: %s has the model %q", user, name, agent.Model)
			}
		}
		if fmt.Sprint(c.Agents["main"].Tools) != "[Read]" || fmt.Sprint(c.Agents["worker"]) != fmt.Sprint(was.Agents["worker"]) {
			t.Errorf("with %q: %+v", user, c.Agents)
		}
		if len(c.Notices) != 2 || c.Notices[0].Args[2] != "agents.main.model" || c.Notices[1].Args[2] != "agents.other.model" {
			t.Errorf("with %q: %v", user, c.Notices)
		}
	}
	if c, err := readBoth(t, "", "agents:"); err != nil || len(c.Agents) != 0 {
		t.Errorf("%+v, %v", c, err)
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
		{"suffixes for every write", "agents: {main: {tools: [Read], editableFileSuffixes: [.md], editableFileSuffixesScope: all-writes}}", true},
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

// TestProjectKeepsAllWrites: X-32. A project may widen the scope of the suffix limit,
// but not narrow it. An unknown scope is an error.
func TestProjectKeepsAllWrites(t *testing.T) {
	t.Parallel()
	user := "agents: {main: {editableFileSuffixes: [.md], editableFileSuffixesScope: all-writes}}"
	for project, taken := range map[string]bool{
		"agents: {main: {editableFileSuffixes: [.md], editableFileSuffixesScope: all-writes}}": true,
		"agents: {main: {editableFileSuffixes: [.md], editableFileSuffixesScope: edit-tools}}": false,
		"agents: {main: {editableFileSuffixes: [.md]}}":                                        false,
	} {
		c, err := readBoth(t, user, project)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(c.Notices) == 0; got != taken {
			t.Errorf("%s: taken %v, want %v", project, got, taken)
		}
		if profile, err := c.Profile(""); err != nil || !profile.AllWrites {
			t.Errorf("%s: the limit is %+v, %v", project, profile, err)
		}
	}
	if _, err := readBoth(t, "agents: {main: {editableFileSuffixesScope: some}}", ""); err == nil {
		t.Error("a scope of an unknown name was taken")
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

// TestSuffixNotices: a list that limits nothing causes a notice.
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
	for i, want := range []string{`".test.ts" in agents.a.editableFileSuffixes fits no file`, "EVERY file may be edited, because no item of agents.main.editableFileSuffixes is a suffix"} {
		if got := notices[i].In(func(text string) string { return text }); !strings.Contains(got, want) {
			t.Errorf("notice %q, want %q", got, want)
		}
	}
}

// Invalid input is an error with its line.
func TestConfigErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"a key near another", "risk:\n  medum: ask", `:2: unknown key "risk.medum"; did you mean "risk.medium"?`},
		{"a key near none", "colour: red", `:1: unknown key "colour"`},
		{"a word of another set", "risk.medium: deny", `:1: risk.medium: "deny": want one of ask, allow`},
		{"a text for a number", "auto.max_denials: many", ":1: auto.max_denials: "},
		{"none", "auto.max_denials: 0", "want at least 1"},
		{"a number for a duration", "pending.timeout: 10", "want a duration"},
		{"a size without a unit", "undo.max_size: 10", "want a size"},
		{"a size below nothing", "undo.max_size: -1MiB", "want a size"},
		{"a size beyond all", "undo.max_size: 9999999999TiB", "want a size"},
		{"too many days", "pending.timeout: 200000d", "want a duration"},
		{"a text for a switch", "sandbox.network: maybe", ":1: sandbox.network: "},
		{"a list at the top", "- mode", ":1: want an object, not a list"},
		{"no YAML", "mode: [", ":1: did not find"},
		{"an alias", "mode: &m ask\nlang: *m", "without aliases"},
		{"a key twice", "mode: ask\nmode: plan", `:2: duplicate key "mode"`},
		{"a key twice, once nested", "risk.medium: ask\nrisk:\n  medium: allow", `:3: duplicate key "risk.medium"`},
		{"an agent's key", "agents: {main: {tolls: []}}", `unknown key "tolls"`},
		{"bytes that are no text", "mode: \xff", ":1: invalid UTF-8"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := readBoth(t, test.text, "")
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "global.yaml") {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// A configuration can start programs and switch the mode, so a world-writable file is
// rejected.
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

// TestNotifyErrors checks that settings that would fail or be unsafe are errors with line and field.
func TestNotifyErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"in the clear", "notify:\n  ntfy:\n    server: http://ntfy.example\n    topic: aaaaaaaaaaaaaaaaaaaa", ":3: notify: ntfy.server: want https://HOST"},
		{"a path", "notify:\n  ntfy: {server: https://ntfy.example/x, topic: aaaaaaaaaaaaaaaaaaaa}", ":2: notify: ntfy.server: want https://HOST without a path"},
		{"a password", "notify:\n  ntfy: {server: 'https://a:b@ntfy.example', topic: aaaaaaaaaaaaaaaaaaaa}", ":2: notify: ntfy.server: want https://HOST, without a password"},
		{"a topic of a path", "notify:\n  ntfy: {server: https://ntfy.example, topic: a/b}", ":2: notify: ntfy.topic: want at most 64"},
		{"a topic that is guessed", "notify:\n  ntfy:\n    server: https://ntfy.example\n    topic: umpire", ":4: notify: ntfy.topic: want at least 16 characters"},
		{"a token elsewhere", "notify:\n  ntfy: {server: https://ntfy.example, topic: t, token_file: ../timeline.key}", ":2: notify: ntfy.token_file: want the name of a file"},
		{"a webhook without a secret", "notify:\n  webhooks:\n    - url: https://a.example\n      secret_file: s\n    - url: https://b.example", "webhooks.2.secret_file: want the name"},
		{"a webhook in the clear", "notify:\n  webhooks:\n    - url: https://a.example\n      secret_file: s\n    - url: http://b.example\n      secret_file: s", ":5: notify: webhooks.2.url: want https://HOST"},
		{"an unknown key", "notify:\n  commmands: true", `:2: notify: unknown key "commmands"`},
		{"an unknown key of a webhook", "notify:\n  webhooks:\n    - uri: https://a.example", `:3: notify: webhooks[0]: unknown key "uri"; did you mean "url"?`},
		{"replies to the notices", "notify:\n  ntfy: {server: https://ntfy.example, topic: t, replies: t, token_file: t}", ":2: notify: ntfy.replies: want another topic"},
		{"trust in nobody", "notify:\n  commands: true\n  relay_trusted: true", ":3: notify: relay_trusted: want your own ntfy server"},
		{"trust without replies", "notify:\n  ntfy: {server: https://ntfy.example, topic: t, token_file: t}\n  commands: true\n  relay_trusted: true", ":4: notify: relay_trusted: want your own ntfy server"},
		{"trust in the clear", "notify:\n  ntfy: {server: http://127.0.0.1, topic: t, replies: r, token_file: t}\n  commands: true\n  relay_trusted: true", ":4: notify: relay_trusted: want a server that is reached by https://"},
		{"trust without a token", "notify:\n  ntfy: {server: https://ntfy.example, topic: aaaaaaaaaaaaaaaa, replies: r}\n  commands: true\n  relay_trusted: true", ":4: notify: relay_trusted: want ntfy.token_file"},
		{"trust in everybody's", "notify:\n  ntfy: {server: https://NTFY.sh, topic: t, replies: r, token_file: t}\n  commands: true\n  relay_trusted: true", ":4: notify: relay_trusted: ntfy.sh is not your own server"},
		{"trust in everybody's, with a dot", "notify:\n  ntfy: {server: https://ntfy.sh., topic: t, replies: r, token_file: t}\n  commands: true\n  relay_trusted: true", ":4: notify: relay_trusted: ntfy.sh is not your own server"},
		{"trust without seeing", "notify:\n  ntfy: {server: https://ntfy.example, topic: t, replies: r, token_file: t}\n  relay_trusted: true", ":3: notify: relay_trusted: want commands: true"},
		{"too long", "notify: {after: 48h}", ":1: notify: after: want a duration of at most 1h"},
		{"no duration", "notify: {after: soon}", ":1: notify: after: want a duration"},
		{"a proxy open to all", "network.proxy: 0.0.0.0:7578", `:1: network.proxy: "0.0.0.0:7578": want a loopback address with a port`},
		{"a proxy at a name", "network: {proxy: 'example.com:7578'}", `:1: network.proxy: "example.com:7578": want a loopback address`},
		{"a proxy on no port", "network.proxy: 127.0.0.1", `:1: network.proxy: "127.0.0.1": want a loopback address`},
		{"a proxy on any port", "network.proxy: 127.0.0.1:0", `:1: network.proxy: "127.0.0.1:0": want a loopback address`},
		{"a console in the clear", "console: {origin: 'http://a.example', listen: '127.0.0.1:1'}", ":1: console: origin: want https://HOST"},
		{"a console's path", "console: {origin: 'https://a.example/', listen: '127.0.0.1:1'}", ":1: console: origin: want https://HOST"},
		{"a console's usual port", "console: {origin: 'https://a.example:443', listen: '127.0.0.1:1'}", ":1: console: origin: want https://HOST"},
		{"a console's number", "console: {origin: 'https://192.0.2.1', listen: '127.0.0.1:1'}", ":1: console: origin: want https://HOST"},
		{"a console in capitals", "console: {origin: 'https://A.example', listen: '127.0.0.1:1'}", ":1: console: origin: want https://HOST"},
		{"a console's user", "console: {origin: 'https://u@a.example', listen: '127.0.0.1:1'}", ":1: console: origin: want https://HOST"},
		{"a console nowhere", "console:\n  origin: https://a.example", ":2: console: listen: want HOST:PORT"},
		{"a console's unix socket", "console: {origin: 'https://a.example', listen: 'unix:/x'}", ":1: console: listen: want HOST:PORT"},
		{"a console open to all", "console:\n  origin: https://a.example\n  listen: 0.0.0.0:7577", ":3: console: listen: want a loopback address"},
		{"a key alone", "console: {origin: 'https://a.example', listen: ':1', key_file: k}", ":1: console: certificate_file: want certificate_file and key_file"},
		{"a header alone", "console: {origin: 'https://a.example', listen: '127.0.0.1:1', user_header: X-User}", ":1: console: user_header: want user_header and secret_file"},
		{"a secret alone", "console: {origin: 'https://a.example', listen: '127.0.0.1:1', secret_file: s}", ":1: console: user_header: want user_header and secret_file"},
		{"a secret elsewhere", "console: {origin: 'https://a.example', listen: '127.0.0.1:1', user_header: X-User, secret_file: ../s}", ":1: console: secret_file: want the name of a file"},
		{"a header of browsers", "console: {origin: 'https://a.example', listen: '127.0.0.1:1', user_header: User-Agent, secret_file: s}", ":1: console: user_header: want the name of a header"},
		{"an odd header", "console: {origin: 'https://a.example', listen: '127.0.0.1:1', user_header: 'X-User: a', secret_file: s}", ":1: console: user_header: want the name of a header"},
		{"a proxy and a certificate", "console: {origin: 'https://a.example', listen: ':1', certificate_file: c, key_file: k, user_header: X-User, secret_file: s}", ":1: console: user_header: remove the certificate"},
		{"a key elsewhere", "console: {origin: 'https://a.example', listen: ':1', certificate_file: c, key_file: ../k}", ":1: console: key_file: want the name of a file"},
		{"a console's unknown key", "console: {address: x}", `:1: console: unknown key "address"`},
		{"a list for a word", "notify:\n  ntfy:\n    server: [a]", ":3: notify: ntfy.server: want a string, not a list"},
		{"a hook's wrong key", "hooks:\n  PreToolUse:\n    - run: x", ":3: hooks: "},
		{"a server's wrong key", "mcp_servers:\n  a:\n    command: x\n    colour: red", `:4: mcp_servers: a: unknown key "colour"; want one of command, args, `},
		{"a server's key of another kind", "mcp_servers:\n  a:\n    command: [x]", ":3: mcp_servers: a.command: want a string, not a list"},
		{"a server's key twice", "mcp_servers:\n  a:\n    command: x\n    command: y", `:4: mcp_servers: a: duplicate key "command"`},
		{"two documents", "mode: ask\n---\nmode: bypass", ":2: more than one document"},
		{"an agent's wrong key", "agents:\n  main:\n    tolls: []", ":3: agents: "},
		{"a list", "notify: [a]", ":1: notify: want an object, not a list"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := readBoth(t, test.text, "")
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "global.yaml:") ||
				strings.Contains(err.Error(), "line ") {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	c, err := readBoth(t, "notify: {ntfy: {server: 'http://[::1]:80', topic: t, token_file: t}, after: 1s}", "")
	if err != nil || !c.Notify.On() || c.Notify.After != time.Second {
		t.Errorf("got %+v, %v", c, err)
	}
}
