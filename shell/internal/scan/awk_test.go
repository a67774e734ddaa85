package scan_test

import (
	"testing"

	"github.com/umpirehq/umpire/shell/internal/scan"
)

// FuzzAwk: reading a program ends, does not panic, and notices a rule put before a readable
// program.
func FuzzAwk(f *testing.F) {
	for _, seed := range []string{
		"{print}", "NR>1", `{print $1 > "x"}`, `/[/]/{system("x")}`, "a/b/c", "x++ / 2", "BEGIN{getline l < f}", "# c",
		"\\\n", `"a\"b"`, "@f()", "print | c", "if (x) /y/", ")", "(", "[", "a::b", "1 ? 2 : 3",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, program string) {
		facts := scan.ReadAwk(program)
		more := scan.ReadAwk("BEGIN { system(x) }\n" + program)
		if facts.Problem == "" && len(more.Ran) <= len(facts.Ran) {
			t.Errorf("%q: %+v, with a rule before it %+v", program, facts, more)
		}
	})
}
