package rulefile

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLint(t *testing.T) {
	t.Parallel()
	l := userLayer(t, `{"version": 1, "rule": [], "zzz": 1,
"rules": [
  {"id": "a", "action": "allow", "tool": "Bash", "match": {"commandprefix": "npm"}, "source": "managed"},
  {"id": "a", "action": "deny", "tool": "Edit", "expiresAt": "x", "Ω": 1,
   "examples": {"notmatch": []}},
  {"id": "b", "action": "allow", "tool": "Bash", "match": {"pathGlob": "bad"}}
],
"hooks": {"PreTooluse": [{}], "PreToolUse": [{"id": "h", "comand": "x"}],
 "PostToolUse": {}, "SessionStart": []}}`)
	got := []string{}
	for _, p := range Lint(l, testOptions()) {
		got = append(got, fmt.Sprintf("%d:%d %s", p.Line, p.Column, p.Text))
	}
	want := []string{
		`1:16 unknown key "rule"; did you mean "rules"?`,
		`1:28 unknown key "zzz"`,
		`3:3 rule "a" does not allow while "commandprefix", which may narrow it, is not understood`,
		`3:60 unknown key "commandprefix"; did you mean "commandPrefix"?`,
		`3:85 source is ignored: it follows from where the file stands`,
		`4:3 rule id "a" stands on line 3 already`,
		`4:49 unknown key "expiresAt"; did you mean "expires_at"?`,
		`4:67 unknown key "Ω"`,
		`5:17 unknown key "notmatch"; did you mean "not_match"?`,
		`6:3 rule "b" never allows: bad pattern`,
		`8:11 hook "hook-a32fca07" cannot run, so the calls it covers ask: unknown key "PreTooluse"; did you mean "PreToolUse"?`,
		`8:46 hook "h" cannot run, so the calls it covers ask: command is missing`,
		`8:58 unknown key "comand"; did you mean "command"?`,
		`9:17 hook "hook-791fbd57" cannot run, so the calls it covers ask: hooks: want a list, not an object`,
		`9:21 unknown key "SessionStart"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	missing := l
	missing.Path += ".none"
	if problems := Lint(missing, testOptions()); problems != nil {
		t.Errorf("missing file: %v", problems)
	}
	broken := userLayer(t, "{")
	if problems := Lint(broken, testOptions()); len(problems) != 1 {
		t.Errorf("broken file: %v", problems)
	}
}
