package scan_test

import (
	"strings"
	"testing"

	"github.com/umpirehq/umpire/shell/internal/scan"
)

// FuzzSed: reading a script ends, does not panic, and notices a command put before a readable
// script.
func FuzzSed(f *testing.F) {
	for _, seed := range []string{
		"p", "1,10p", "s/a/b/gw out", "s/[/]/x/e", "/a/,/b/{d;}", ":a;N;ba", "a\\\ntext", "y/ab/cd/", "\\,x,Id", "e id",
		"r f\nw g", "$!{$d}", "0~3p", "1,+2!d#c", "s/a/\\\nb/", "}", "{", "[", "s/[[:alpha:]/]x/y/",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, script string) {
		facts := scan.ReadSed(script)
		more := scan.ReadSed("w out\n" + script)
		if facts.Problem == "" && len(more.Written) != len(facts.Written)+1 {
			t.Errorf("%q: %+v, with a command before it %+v", script, facts, more)
		}
		if facts.Problem == "" && strings.HasPrefix(script, "w") && len(facts.Written) == 0 {
			t.Errorf("%q writes", script)
		}
	})
}
