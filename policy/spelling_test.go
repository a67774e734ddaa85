package policy

import (
	"testing"

	"github.com/umpirehq/umpire"
)

// A rule that denies or asks applies to every spelling of its options; an allow rule only to
// the one it uses.
func TestOptionsOfRulesHaveManySpellings(t *testing.T) {
	t.Parallel()
	lines := []string{"rm -fr x", "rm -r -f x", "rm -f -r x", "rm --recursive --force x", "rm -rfv x", "rm x -rf", "/bin/rm -Rf x", "rm -v -fr -- x"}
	for _, line := range lines {
		q := query("Bash", exec(line, umpire.High))
		if d := Decide(newPolicy(t, testOptions, "deny Bash(rm -rf:*)"), q); d.Verdict != umpire.Deny {
			t.Errorf("denied rm -rf: %s is %s", line, d.Verdict)
		}
		if d := Decide(newPolicy(t, testOptions, "allow Bash(rm:*)", "ask Bash(rm -rf:*)"), q); d.Verdict != umpire.Ask {
			t.Errorf("asked rm -rf: %s is %s", line, d.Verdict)
		}
		if d := Decide(newPolicy(t, testOptions, "allow Bash(rm -rf:*)"), q); d.Verdict == umpire.Allow {
			t.Errorf("allowed rm -rf: %s is %s", line, d.Verdict)
		}
	}
	for _, line := range []string{"rm -r x", "rm -f x", "rm -i x", "rmdir x"} {
		if d := Decide(newPolicy(t, testOptions, "deny Bash(rm -rf:*)"), query("Bash", exec(line, umpire.High))); d.Verdict == umpire.Deny {
			t.Errorf("denied rm -rf: %s is denied", line)
		}
	}
}
