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
		`1:16 key "rule" is not known; did you mean "rules"?`,
		`1:28 key "zzz" is not known`,
		`3:3 rule "a" does not allow while "commandprefix", which may narrow it, is not understood`,
		`3:60 key "commandprefix" is not known; did you mean "commandPrefix"?`,
		`3:85 source is ignored: it follows from where the file stands`,
		`4:3 rule id "a" stands on line 3 already`,
		`4:49 key "expiresAt" is not known; did you mean "expires_at"?`,
		`4:67 key "Ω" is not known`,
		`5:17 key "notmatch" is not known; did you mean "not_match"?`,
		`6:3 rule "b" never allows: bad pattern`,
		`8:11 hook "hook-a32fca07" cannot be run, so what it is about asks: key "PreTooluse" is not known; did you mean "PreToolUse"?`,
		`8:46 hook "h" cannot be run, so what it is about asks: command is missing`,
		`8:58 key "comand" is not known; did you mean "command"?`,
		`9:17 hook "hook-791fbd57" cannot be run, so what it is about asks: hooks: want a list, not an object`,
		`9:21 key "SessionStart" is not known`,
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
