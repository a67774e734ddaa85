package shell

import (
	"os"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

// TestNeverSafe: none of the lines that were once misjudged as harmless is so again.
func TestNeverSafe(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/never_safe.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		lines++
		if runsUnasked(line) {
			t.Errorf("%s is harmless: %+v", line, Parse(line, neverSafeEnv))
		}
	}
	if lines == 0 || !runsUnasked("cat a; ls") {
		t.Fatal("nothing is held to anything")
	}
}

var neverSafeEnv = Env{Dir: "/p", Home: "/home/u"}

// runsUnasked reports whether all accesses of a line are of little risk, beyond doubt and
// within the folder.
func runsUnasked(line string) bool { return runsUnaskedIn("", line) }

// runsUnaskedIn is runsUnasked for the named shell.
func runsUnaskedIn(name, line string) bool {
	env := neverSafeEnv
	env.Shell = name
	for _, a := range Parse(line, env) {
		switch {
		case a.Risk.AtLeast(umpire.Medium) || a.Doubt != "":
			return false
		case a.Paths() && a.Target != "/p" && !strings.HasPrefix(a.Target, "/p/") &&
			!strings.HasPrefix(a.Target, "/dev/"):
			return false
		}
	}
	return true
}
