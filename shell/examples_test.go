package shell

import (
	"os"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

// TestExamplesOfEntries holds every entry to lines written by hand. An entry that
// accepts anything has one that runs unasked, and each has one that does not.
func TestExamplesOfEntries(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/examples.txt")
	if err != nil {
		t.Fatal(err)
	}
	runs, asks := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(text)) {
		sign, line, found := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !found || sign == "#" {
			continue
		}
		name, _, _ := strings.Cut(line, " ")
		if p, _ := builtIn(name); p != nil {
			name = p.name()
		}
		switch {
		case sign == "+" && !runsUnasked(line):
			t.Errorf("asks: %s: %+v", line, Parse(line, neverSafeEnv))
		case sign == "-" && runsUnasked(line):
			t.Errorf("runs unasked: %s", line)
		}
		runs[name], asks[name] = runs[name] || sign == "+", asks[name] || sign == "-"
	}
	for _, family := range families {
		for i := range *family {
			p := &(*family)[i]
			if checkedAgainst(p.name()) == nothingAccepted {
				continue // TestEveryEntrySaysWhatItWasCheckedAgainst makes lines of these
			}
			if !asks[p.name()] {
				t.Errorf("%s has no example that asks", p.name())
			}
			if !runs[p.name()] && !p.risk.AtLeast(umpire.Medium) {
				t.Errorf("%s has no example that runs unasked", p.name())
			}
		}
	}
}
