package setup

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/internal/host"
)

// limitCases are homes and projects of a host, with the commands that must not be replaced there:
// their prefixes, or an error.
var limitCases = map[string]struct {
	host  string
	turn  host.CodexTurn
	files map[string]string
	args  string
	env   map[string]string
	want  string // prefixes, with | between them
	err   error
	says  string // text of another error
}{
	"codex": {
		host: "codex", turn: host.CodexTurn{Sandbox: "danger-full-access", Approval: "never"}, files: map[string]string{
			"home/.codex/rules/default.rules": "prefix_rule(pattern=[\"git\", [\"push\", \"fetch\"]], decision=\"prompt\")\n" +
				"prefix_rule(pattern=[\"ls\"], decision=\"allow\")\n",
			"p/.codex/rules/x.rules": `prefix_rule(pattern=["rm"], decision="forbidden")`,
		}, want: "git fetch|git push|rm",
	},
	"codex, sandbox":   {host: "codex", turn: host.CodexTurn{Sandbox: "workspace-write", Approval: "never"}, err: errSandboxed},
	"codex, untrusted": {host: "codex", turn: host.CodexTurn{Sandbox: "danger-full-access", Approval: "untrusted"}, err: errAsksFirst},
	"codex, no turn":   {host: "codex", err: errSandboxed},

	"gemini": {
		host: "gemini", args: "--yolo", files: map[string]string{
			"home/.gemini/policies/a.toml": "[[rule]]\ntoolName = [\"write_file\", \"run_shell_*\"]\ncommandPrefix = [\"git push\", \"rm\"]\ndecision = \"ask_user\"\n" +
				"[[rule]]\ntoolName = \"write_file\"\ndecision = \"deny\"\n[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"allow\"\n",
			"home/.gemini/extensions/e/gemini-extension.json": `{"excludeTools": ["run_shell_command(curl)", "write_file"]}`,
			"p/.gemini/settings.json":                         "{\"tools\": {\"exclude\": [\"ShellTool(sudo:*)\"]}} // mine\n",
		}, want: "curl|git push|rm|sudo",
	},
	"gemini, asks":     {host: "gemini", args: "--approval-mode=auto_edit", err: errAsksFirst},
	"gemini, sandbox":  {host: "gemini", args: "--approval-mode|yolo|-s", err: errSandboxed},
	"gemini, settings": {host: "gemini", args: "-y", files: map[string]string{"home/.gemini/settings.json": `{"tools": {"sandbox": "docker"}}`}, err: errSandboxed},
	"gemini, core":     {host: "gemini", args: "-y", files: map[string]string{"home/.gemini/settings.json": `{"tools": {"core": ["run_shell_command(git)"]}}`}, err: errLimitsAll},
	"gemini, regex":    {host: "gemini", args: "-y", files: map[string]string{"home/.gemini/policies/a.toml": "[[rule]]\ncommandRegex = \"x\"\ndecision = \"deny\"\n"}, err: errLimitsAll},
	"gemini, flag":     {host: "gemini", args: "-y|--policy|x.toml", err: errConditions},

	"copilot": {
		host: "copilot", args: "--deny-tool|shell(git:*)|write|shell(rm)|-p|x|--deny-tool=shell(npm publish),MyMCP",
		want: "git|npm publish|rm",
	},
	"copilot, all":     {host: "copilot", args: "--deny-tool|shell", err: errLimitsAll},
	"copilot, sandbox": {host: "copilot", files: map[string]string{"home/.copilot/settings.json": `{"sandbox": {"enabled": true}}`}, err: errSandboxed},

	"opencode": {
		host: "opencode", files: map[string]string{
			"home/.config/opencode/opencode.jsonc": `{"permission": {"bash": {"*": "allow", "git push *": "ask", "npm run?x": "deny"}, "edit": "ask"}}`,
			"p/opencode.json":                      `{"permission": {"bash": {"bash *": "deny"}}}`,
			"p/.opencode/opencode.json":            `{"agent": {"build": {"permission": {"bash": {"make": "ask"}}}}}`,
			"p/.opencode/agent/mine.md":            "---\ndescription: x\n---\n",
		}, env: map[string]string{"OPENCODE_PERMISSION": `{"bash": {"sudo *": "deny"}}`}, want: "bash|git push|make|npm|sudo",
	},
	"opencode, plain":  {host: "opencode", files: map[string]string{"p/opencode.json": `{"permission": {"bash": {"bash *": "deny"}}}`}, want: "bash"},
	"opencode, asks":   {host: "opencode", files: map[string]string{"p/opencode.json": `{"permission": "ask"}`}, err: errLimitsAll},
	"opencode, agent":  {host: "opencode", files: map[string]string{"p/.opencode/agents/a/b.md": "---\npermission:\n  bash: ask\n---\n"}, err: errConditions},
	"opencode, broken": {host: "opencode", files: map[string]string{"p/opencode.json": `{`}, says: "ends too early"},
	"opencode, any":    {host: "opencode", files: map[string]string{"p/opencode.json": `{"permission": {"bash": {"*push*": "deny"}}}`}, err: errLimitsAll},
	"another host":     {host: "cursor", says: "the rules of cursor are not read"},
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for name, c := range limitCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "[a-c]*") // the literal name
			for file, text := range c.files {
				path := filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s := Start{
				Args: strings.Split(c.args, "|"), Getenv: func(name string) string { return c.env[name] },
				Home: filepath.Join(dir, "home"), Project: filepath.Join(dir, "p"), Turn: c.turn,
			}
			l, err := s.Limits(c.host)
			var got []string
			for _, r := range l.Rules {
				got = append(got, r.Match.CommandPrefix)
			}
			slices.Sort(got)
			if strings.Join(got, "|") != c.want || c.err != nil && !errors.Is(err, c.err) || (err != nil) != (c.err != nil || c.says != "") ||
				c.says != "" && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%q, %v; want %q, %v %s", got, err, c.want, c.err, c.says)
			}
		})
	}
}

// TestHolesSayWhereNothingIsTried: a host whose limits are not known declares that.
func TestHolesSayWhereNothingIsTried(t *testing.T) {
	t.Parallel()
	for _, h := range host.Hosts {
		_, registered := Find(h.Name)
		tried := h.Rewrites() && (h.Name == Claude.Host || limitReaders[h.Name] != nil)
		if declared := slices.Contains(h.Holes,
			"commands are not tried first and cannot be undone, since umpire does not replace them there"); registered && (declared == tried || h.Replaced() != tried) {
			t.Errorf("%s: commands are tried: %t, and its holes say otherwise", h.Name, tried)
		}
	}
}
