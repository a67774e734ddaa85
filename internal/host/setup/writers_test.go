package setup

import (
	"bytes"
	"encoding/json"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"

	"github.com/umpirehq/umpire/internal/host"
)

// hookOf is a hook as `umpire setup` registers it, with a path that needs quoting.
func hookOf(host string) Hook {
	return Hook{Command: "/opt/the tool's/umpire-hook", Args: []string{"hook", host, "--home", "/home/a b/.umpire", "--deadline", "595s"},
		Timeout: 10 * time.Minute}
}

// others are files that people have, for each kind of host.
var others = map[string][]string{
	"json": {"", "{}\n", "{\n}\n", "{\n  \"theme\": \"dark\"\n}\n", "{\r\n\t\"theme\": \"dark\"\r\n}\r\n",
		`{"theme":"dark","n":[1,2]}`, "\xef\xbb\xbf{\n  \"theme\": \"dark\",\n}\n", "{ }\n",
		"{\n  \"theme\": \"dark\"\n}\n// the end",
		"{\n  // mine\n  \"theme\": \"dark\", /* yes */\n  \"permissions\": {\"allow\": [\"a\"]}\n}\n",
		"{\n  \"z\": 1,\n  \"hooks\": {\n    \"Stop\": [],\n    \"other\": [{\"command\": \"bell\"}]\n  },\n  \"a\": 2\n}\n",
		"{\n  \"version\": 1,\n  \"hooks\": {\n    \"preToolUse\": [\n      {\"command\": \"./lint.sh\"}\n    ],\n    \"PreToolUse\": [\n      {\"matcher\": \"x\", \"hooks\": [{\"type\": \"command\", \"command\": \"umpire hook other\"}]}\n    ]\n  }\n}\n"},
	"toml": {"", "model = \"k2\"\n", "# mine\nmodel = \"k2\" # yes\n\n[a.b]\nc = [1, 2]", "[[hooks]]\nevent = \"Stop\"\ncommand = \"bell\"\n",
		"model = \"k2\"\r\n[a]\r\nb = 1\r\n"},
	"own": {""},
}

func kindOf(s Settings) string {
	switch s.format.(type) {
	case hookList:
		return "json"
	case kimiHooks:
		return "toml"
	}
	return "own"
}

// TestEveryHostsFile: for every host and every file, installing twice is installing once,
// umpire's hooks are found with what they start, and an uninstall leaves the rest as it was.
func TestEveryHostsFile(t *testing.T) {
	t.Parallel()
	for _, s := range All {
		for _, text := range others[kindOf(s)] {
			t.Run(s.Host, func(t *testing.T) {
				t.Parallel()
				checkWriter(t, s, text)
			})
		}
	}
}

func checkWriter(t *testing.T, s Settings, text string) {
	t.Helper()
	h := hookOf(s.Host)
	given := []byte(text)
	once, err := s.Install(given, h)
	if err != nil {
		t.Fatal(err)
	}
	if string(given) != text {
		t.Fatal("the input was changed")
	}
	twice, err := s.Install(once, h)
	if err != nil || !bytes.Equal(once, twice) {
		t.Errorf("installing twice differs: %v\n%s", err, cmp.Diff(string(once), string(twice)))
	}
	list, err := s.Registered(once)
	if err != nil || len(list) == 0 {
		t.Fatalf("%d registered, %v in\n%s", len(list), err, once)
	}
	for _, r := range list {
		if r.Command != h.Command || !cmp.Equal(r.Args, h.Args) {
			t.Errorf("%s starts %q %q", r.Event, r.Command, r.Args)
		}
		if r.Timeout != 0 && r.Timeout != h.Timeout && r.Timeout != noticeTimeout {
			t.Errorf("%s has a time limit of %s", r.Event, r.Timeout)
		}
	}
	for line := range strings.Lines(text) {
		if word := strings.Trim(line, " \t\r\n,{}[]"); !strings.Contains(string(once), word) {
			t.Errorf("install lost %q", word)
		}
	}
	if strings.Contains(text, "\r\n") && strings.Count(string(once), "\n") != strings.Count(string(once), "\r\n") {
		t.Error("line ends are mixed")
	}
	changed := h
	changed.Command = "/usr/bin/umpire"
	moved, err := s.Install(once, changed)
	if err != nil || strings.Contains(string(moved), "the tool") {
		t.Errorf("the old command stays: %v\n%s", err, moved)
	}
	back, err := s.Uninstall(moved)
	if err != nil || strings.Contains(string(back), "umpire hook "+s.Host) || strings.Contains(string(back), "/usr/bin/umpire") {
		t.Errorf("after an uninstall: %v\n%s", err, back)
	}
	want, wantErr := s.Uninstall(given)
	if diff := cmp.Diff(meaningOf(t, s, want), meaningOf(t, s, back)); diff != "" || wantErr != nil {
		t.Errorf("%v: after install and uninstall (-want +got):\n%s", wantErr, diff)
	}
}

// meaningOf returns the content of a file, without the parts that an uninstall may leave: empty
// lists of hooks, and the version that the host demands.
func meaningOf(t testing.TB, s Settings, text []byte) any {
	t.Helper()
	switch kindOf(s) {
	case "json":
		file, _ := meaning(t, string(text)).(map[string]any)
		delete(file, "version")
		return file
	case "toml":
		var file map[string]any
		if err := toml.Unmarshal(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), &file); err != nil {
			t.Fatal(err)
		}
		return file
	}
	return strings.TrimSpace(string(text))
}

// TestPlacesAgree: a host's own data name the same file, and every host has one.
func TestPlacesAgree(t *testing.T) {
	t.Parallel()
	for _, h := range host.Hosts {
		s, ok := Find(h.Name)
		if ok == (h.Settings.Format == host.FormatNone) {
			t.Errorf("%s: settings are written: %t", h.Name, ok)
		}
		if got, _ := s.Place.Path("/home", func(string) string { return "" }); ok && got != "/home/"+h.Settings.User {
			t.Errorf("%s: %s, and its data say %s", h.Name, got, h.Settings.User)
		}
	}
}

// TestPluginsSpeakTheCodec: every field of a question that a host's codec reads is one that the
// plugin writes. A script, as Cline's, hands on what the host wrote.
func TestPluginsSpeakTheCodec(t *testing.T) {
	t.Parallel()
	for _, h := range host.Hosts {
		if ext := path.Ext(h.Settings.User); ext != ".js" && ext != ".ts" {
			continue
		}
		s, _ := Find(h.Name)
		text, err := s.Install(nil, Hook{Command: "/usr/bin/umpire", Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		var question map[string]any
		if err := json.Unmarshal(h.Sample("s", "c", "/w", "ls"), &question); err != nil {
			t.Fatal(err)
		}
		for field := range question {
			if !regexp.MustCompile(`[ {]` + field + `[:,]`).Match(text) {
				t.Errorf("the plugin of %s does not send %s", h.Name, field)
			}
		}
	}
}

// TestUndoByteForByte: nothing at all is left, except for a version that the host demands.
func TestUndoByteForByte(t *testing.T) {
	t.Parallel()
	for _, s := range All {
		l, _ := s.format.(hookList)
		for _, text := range others[kindOf(s)] {
			if strings.Contains(text, `"Stop": []`) || kindOf(s) == "json" && text == "" {
				continue // an empty list does not stay, and neither does an empty file
			}
			if l.version != 0 {
				text = strings.Replace(text, "\"theme\"", "\"version\": 1, \"theme\"", 1)
			}
			once, err := s.Install([]byte(text), hookOf(s.Host))
			if err != nil {
				t.Fatal(s.Host, err)
			}
			back, err := s.Uninstall(once)
			if err == nil && l.version != 0 && !strings.Contains(text, "version") {
				continue
			}
			if err != nil || string(back) != text {
				t.Errorf("%s: %v\n%s", s.Host, err, cmp.Diff(text, string(back)))
			}
		}
	}
}

func TestWritersRefuse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ host, text, want string }{
		{"codex", "{ nope", "line 1, column"},
		{"gemini", `{"hooks": []}`, "hooks: want an object"},
		{"cursor", `{"version": 1, "version": 1}`, "duplicate key"},
		{"antigravity", `{"umpire": 1}`, "umpire: want an object"},
		{"kimi", "a = ", "line 1, column"},
		{"kimi", "hooks = []\n", "would break the file"},
		{"kimi", "# >>> umpire init kimi\n", "mark"},
		{"kimi", "# >>> umpire init kimi\n[[hooks]]\n# <<< umpire init kimi\n\nx = 1\n", "line 4"},
		{"opencode", "export const Mine = 1\n", "not umpire's"},
		{"cline", "#!/bin/sh\necho mine\n", "not umpire's"},
		{"kiro", `{"version":"v1","hooks":[{"name":"mine","action":{"type":"command","command":"bell"}}]}`, "not umpire's"},
	} {
		s, ok := Find(tt.host)
		if !ok {
			t.Fatal(tt.host)
		}
		if out, err := s.Install([]byte(tt.text), hookOf(tt.host)); err == nil || !strings.Contains(err.Error(), tt.want) || out != nil {
			t.Errorf("%s %q: %v, want %q", tt.host, tt.text, err, tt.want)
		}
	}
}

func TestTrustCodex(t *testing.T) {
	t.Parallel()
	hashes := []CodexHash{{`/home/a "b"/hooks.json:pre_tool_use:0:0`, "sha256:00"}, {`C:\x:stop`, "sha256:01"}}
	for _, text := range []string{"", "model = \"x\"\n\n[features]\nhooks = true\n"} {
		out, err := TrustCodex([]byte(text), hashes)
		if err != nil {
			t.Fatal(err)
		}
		trusted, err := TrustedCodex(out)
		if err != nil || trusted[hashes[0].Key] != "sha256:00" || trusted[hashes[1].Key] != "sha256:01" {
			t.Errorf("%v, %v in\n%s", trusted, err, out)
		}
		if back, err := CodexTrust.Uninstall(out); err != nil || string(back) != text {
			t.Errorf("%v: %q", err, back)
		}
	}
	if _, err := TrustCodex([]byte("[hooks.state.a]\ntrusted_hash = \"x\"\n"), []CodexHash{{"a", "y"}}); err == nil {
		t.Error("a key that stands already is given twice")
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	for _, words := range [][]string{{"/a/umpire", "hook", "x"}, {"/a b/umpire", "it's", "", "--x=\"y\"", `C:\d`}} {
		line := Hook{Command: words[0], Args: words[1:]}.commandLine()
		if got := splitCommand(line); !cmp.Equal(got, words) {
			t.Errorf("%s: %q", line, got)
		}
	}
}

// FuzzEveryHostsFile tries any bytes on every host's file.
func FuzzEveryHostsFile(f *testing.F) {
	for i, s := range All {
		for _, text := range others[kindOf(s)] {
			f.Add(uint8(i), []byte(text))
		}
		once, err := s.Install(nil, hookOf(s.Host))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), once)
	}
	f.Fuzz(func(t *testing.T, index uint8, text []byte) {
		s := All[int(index)%len(All)]
		before := bytes.Clone(text)
		once, err := s.Install(text, hookOf(s.Host))
		if !bytes.Equal(before, text) {
			t.Fatal("the input was changed")
		}
		if err != nil {
			return
		}
		twice, err := s.Install(once, hookOf(s.Host))
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("installing twice differs: %v\n%s", err, cmp.Diff(string(once), string(twice)))
		}
		list, err := s.Registered(once)
		if err != nil || len(list) == 0 {
			t.Fatalf("%d registered, %v", len(list), err)
		}
		back, err := s.Uninstall(once)
		if err != nil {
			t.Fatal(err)
		}
		want, err := s.Uninstall(text)
		if err != nil || kindOf(s) == "json" && duplicateNames(text) {
			return
		}
		if diff := cmp.Diff(meaningOf(t, s, want), meaningOf(t, s, back)); diff != "" {
			t.Fatalf("install and uninstall (-want +got):\n%s\n%s", diff, once)
		}
	})
}
