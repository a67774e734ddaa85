package setup

import (
	"fmt"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/internal/view/languages"
)

func TestAuditClaudeOfAnInstall(t *testing.T) {
	t.Parallel()
	if findings := AuditClaude([]byte(mustInstall(t, "", install))); len(findings) != 0 {
		t.Errorf("a fresh install has findings: %+v", findings)
	}
}

func TestAuditClaude(t *testing.T) {
	t.Parallel()
	good := mustInstall(t, "", install)
	with := func(members string) string { return strings.Replace(good, "{\n", "{\n  "+members+",\n", 1) }
	change := func(from, to string) string { return strings.Replace(good, from, to, 1) }
	for _, tt := range []struct{ name, settings, want string }{
		{"broken", "{\n  \"a\": tru\n}", "2:8 syntax "},
		{"comments", with("// x\n  \"a\": 1"), "2:3 syntax "},
		{"trailing comma", strings.TrimSuffix(good, "\n}\n") + ",}", fmt.Sprintf("%d:5 syntax ", strings.Count(good, "\n")-1)},
		{"all hooks off", with(`"disableAllHooks": true`), "2:22 disabled disableAllHooks"},
		{"all hooks on", with(`"disableAllHooks": false`), ""},
		{"switch of the wrong type", with(`"disableAllHooks": "true"`), "2:22 malformed disableAllHooks"},
		{"managed only", with(`"allowManagedHooksOnly": true`), "2:28 managed_only allowManagedHooksOnly"},
		{"path", with(`"env": {"PATH": "/evil", "EDITOR": "vi"}`), "2:19 environment env.PATH"},
		{"preload", with(`"env": {"LD_PRELOAD": "/evil.so"}`), "2:25 environment env.LD_PRELOAD"},
		{"shell prefix", with(`"env": {"CLAUDE_CODE_SHELL_PREFIX": "x"}`), "2:39 environment env.CLAUDE_CODE_SHELL_PREFIX"},
		{"broad allow", with(`"permissions": {"allow": ["Read", "Bash(npm test:*)", "Bash(*)"]}`), "2:57 broad_allow permissions.allow"},
		{"tool-wide allow", with(`"permissions": {"allow": ["Bash"]}`), "2:29 broad_allow permissions.allow"},
		{"allow of everything", with(`"permissions": {"allow": ["Edit(//**)"]}`), "2:29 broad_allow permissions.allow"},
		{"deny is fine", with(`"permissions": {"deny": ["Bash"]}`), ""},
		{"key twice", with(`"model": "a", "model": "b"`), "2:26 malformed model"},
		{"nothing of ours", `{}`, "0:0 missing hooks"},
		{"hooks of the wrong type", `{"hooks": []}`, "1:11 malformed hooks, 0:0 missing hooks"},
		{"event of the wrong type", change(`"hooks": {`, `"hooks": {"Setup": {},`), "2:22 malformed hooks.Setup"},
		{"group without hooks", change(`"hooks": {`, `"hooks": {"Setup": [{}],`), "2:23 malformed hooks.Setup"},
		{"handler without type", change(`"hooks": {`, `"hooks": {"Setup": [{"hooks": [{"command": "x"}]}],`), "2:34 malformed hooks.Setup.hooks.type"},
		{"one event gone", strings.Replace(good, `"PermissionRequest"`, `"Notification"`, 1), "0:0 missing hooks.PermissionRequest"},
		{"narrow matcher", change(`"matcher": "*"`, `"matcher": "Bash"`), "4:7 weakened hooks.PreToolUse.matcher"},
		{"in the background", change(`"timeout": 3600`, `"timeout": 3600, "async": true`), "7:11 weakened hooks.PreToolUse.hooks.async"},
		{"condition", change(`"timeout": 3600`, `"timeout": 3600, "if": "Bash(git:*)"`), "7:11 weakened hooks.PreToolUse.hooks.if"},
		{"no timeout", change(`"timeout": 3600`, `"statusMessage": "x"`), "7:11 timeout hooks.PreToolUse.hooks.timeout"},
		{"short timeout", change(`"timeout": 3600`, `"timeout": 3`), "7:11 timeout hooks.PreToolUse.hooks.timeout"},
		{"bare command", change(`"/usr/local/bin/umpire"`, `"umpire"`), "7:11 weakened hooks.PreToolUse.hooks.command"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, f := range AuditClaude([]byte(tt.settings)) {
				got = append(got, fmt.Sprintf("%d:%d %s %s", f.Line, f.Column, f.Code, f.Key))
				if f.Problem == nil || f.Remedy == "" {
					t.Fatalf("no problem or remedy: %+v", f)
				}
				for _, tag := range languages.Tags()[1:] {
					text := languages.Find(tag)
					if text.Error(f.Problem) == f.Problem.Error() || text.Of(f.Remedy) == f.Remedy {
						t.Errorf("%q, %q: not in %s", f.Problem, f.Remedy, tag)
					}
				}
			}
			if joined := strings.Join(got, ", "); joined != tt.want {
				t.Errorf("findings %s\nwant     %s\n%s", joined, tt.want, tt.settings)
			}
		})
	}
}
