package setup

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire/policy"
)

// allowed formats the entries of a list: "line rule", or "line -text: why".
func allowed(t testing.TB, host, file, text string) []string {
	t.Helper()
	for _, l := range AllowLists {
		if l.Host != host || !strings.HasSuffix(l.Place.Name, file) {
			continue
		}
		list, err := l.Read([]byte(text))
		if err != nil {
			return []string{"error: " + err.Error()}
		}
		var said []string
		for _, a := range list {
			if a.Why != nil {
				said = append(said, fmt.Sprintf("%d -%s: %v", a.Line, a.Text, a.Why))
			} else {
				said = append(said, fmt.Sprintf("%d %s", a.Line, policy.FormatShort(a.Rule)))
			}
		}
		return said
	}
	t.Fatalf("%s has no list %q", host, file)
	return nil
}

func TestAllowLists(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		host, file, text string
		want             []string
	}{
		{"codex", "*.rules", `# mine
prefix_rule(pattern=["git", ["status", "diff"]], decision="allow", justification="looks")
prefix_rule(
    pattern = ["gh", "pr"],  # views
)
prefix_rule(pattern=["gh", "pr", "merge"], decision="prompt", match=[["gh", "pr", "merge", "1"]])
prefix_rule(pattern=["python3"], decision="allow")
prefix_rule(pattern=["rm"], decision="forbidden")
host_executable(name="git", paths=["/usr/bin/git"])
`, []string{"2 Bash(git status:*)", "2 Bash(git diff:*)", "3 -gh pr: " + errOverlap.Error(), "7 -python3: " + errBroad.Error()}},
		{"codex", "*.rules", "x = 1\n", []string{"error: read the allow list of codex: line 1: \"x\" is not valid: want calls such as prefix_rule(...)"}},
		{"codex", "*.rules", `prefix_rule(pattern=["a`, []string{"error: read the allow list of codex: line 1: the string is not closed, or umpire does not know its kind"}},
		{"gemini", "settings.json", `{
  // mine
  "tools": {"allowed": ["run_shell_command(git log)", "read_file",
    "run_shell_command(node)", "run_shell_command", "ShellTool(npm test:*)"]}
}`, []string{"3 Bash(git log:*)", "3 -read_file: " + errWholeTool.Error(), "4 -run_shell_command(node): " + errBroad.Error(),
			"4 -run_shell_command: " + errWholeTool.Error(), "4 Bash(npm test:*)"}},
		{"gemini", "*.toml", `[[rule]]
toolName = "run_shell_command"
commandPrefix = ["go vet", "npm"]
decision = "allow"
priority = 100
[[rule]]
toolName = "run_shell_command"
commandPrefix = "go build"
decision = "allow"
modes = ["plan"]
[[rule]]
toolName = "glob"
decision = "allow"
[[rule]]
toolName = "run_shell_command"
commandPrefix = "rm"
decision = "deny"
`, []string{"1 Bash(go vet:*)", `1 -commandPrefix "npm": ` + errBroad.Error(), `6 -commandPrefix "go build": ` + errConditions.Error(),
			`11 -toolName ["glob"]: ` + errWholeTool.Error()}},
		{"opencode", "opencode.json*", `{"permission": {
  "edit": "allow",
  "webfetch": "ask",
  "bash": {
    "git push": "allow",
    "*": "ask",
    "git status": "allow",
    "npm run *": "allow",
    "npm run deploy": "deny",
    "ls *": "allow"
  }
}}`, []string{"2 -edit: " + errWholeTool.Error(), "5 -git push: " + errOverlap.Error(), "7 Bash(=git status)",
			"8 -npm run *: " + errOverlap.Error(), "10 Bash(ls:*)"}},
		{"opencode", "opencode.json*", `{"permission": "allow"}`, []string{"1 -permission: " + errWholeTool.Error()}},
		{"cursor", "cli-config.json", `{"permissions": {
  "allow": ["Shell(ls)", "Shell(git)", "Shell(npm:run lint)", "Read(src/**)", "Write(**)", "WebFetch(example.com)", "Mcp(a:*)"],
  "deny": ["Shell(ls -R)"]
}}`, []string{"2 -Shell(ls): " + errOverlap.Error(), "2 -Shell(git): " + errBroad.Error(), "2 Bash(npm run lint:*)", "2 Read(src/**)",
			"2 -Write(**): " + errWholeTool.Error(), "2 WebFetch(domain:example.com)", "2 -Mcp(a:*): " + errPattern.Error()}},
		{"crush", "crush.json", `{"permissions": {"allowed_tools": ["view"]}}`, []string{"1 -view: " + errWholeTool.Error()}},
		{"droid", "settings.json", `{"commandAllowlist": ["go test ./...", "ls *", ""]}`,
			[]string{"1 Bash(=go test ./...)", "1 -ls *: " + errPattern.Error(), "1 -: " + errWholeTool.Error()}},
	} {
		t.Run(tt.host+" "+tt.file, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, allowed(t, tt.host, tt.file, tt.text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestClaudeDirectories(t *testing.T) {
	t.Parallel()
	list := ClaudeDirectories([]byte("{\"permissions\": {\"additionalDirectories\": [\"/srv/docs/\",\n\"~/n\", \"../x\", \"/\"]}}"))
	var got []string
	for _, a := range list {
		got = append(got, fmt.Sprintf("%d %s %v", a.Line, policy.FormatShort(a.Rule), a.Why))
	}
	want := []string{"1 Read(/srv/docs/**) <nil>", "2 Read(~/n/**) <nil>", "2 Read(../x/**) " + errRelative.Error(),
		"2 Read(/**) " + errRelative.Error()}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzAllowLists: from any file, every resulting rule is sound and not too wide.
func FuzzAllowLists(f *testing.F) {
	f.Add(uint8(0), []byte(`prefix_rule(pattern=["a", ["b", 'c']], decision="allow")`))
	f.Add(uint8(1), []byte(`{"tools": {"allowed": ["run_shell_command(a b)"]}}`))
	f.Add(uint8(2), []byte("[[rule]]\ncommandPrefix = \"a\"\ndecision = \"allow\"\n"))
	f.Add(uint8(4), []byte(`{"permission": {"bash": {"a *": "allow", "a b": "ask"}}}`))
	f.Add(uint8(5), []byte(`{"permissions": {"allow": ["Shell(a:b)"], "deny": ["Read(x)"]}}`))
	f.Fuzz(func(t *testing.T, index uint8, text []byte) {
		list, err := AllowLists[int(index)%len(AllowLists)].Read(text)
		if err != nil {
			return
		}
		for _, a := range list {
			if a.Why == nil && (tooWide(a.Rule) != nil || policy.Validate(a.Rule) != nil) {
				t.Errorf("%q became %s", a.Text, policy.FormatShort(a.Rule))
			}
		}
	})
}
