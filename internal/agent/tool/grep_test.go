package tool

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestGrepFindsWhatTheExpressionMatches: looking for literals first finds the same lines
// as matching each of them.
func TestGrepFindsWhatTheExpressionMatches(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.SampledFrom([]string{
			"a", "ab", "^a", "b$", "^$", "", "a|b", "ab|ba|c", "(ab)+", "a{2,}", "(a|b)c", "[ab]c", "a?c", "(?i)AB", "a.c", "(x|ab)(c|)", "ab*", "a\\nb", "é", "(ab|é)b",
		}).Draw(t, "pattern")
		data := rapid.StringMatching(`[abcxé\n]{0,40}`).Draw(t, "data")
		quoted, err := json.Marshal(pattern)
		if err != nil {
			t.Fatal(err)
		}
		var g grep
		if err := g.readInput(input{"pattern": quoted}); err != nil {
			t.Fatal(err)
		}
		var want []int
		for n, line := range bytes.Split([]byte(data), newline) {
			if g.expr.Match(line) {
				want = append(want, n)
			}
		}
		if got := g.hits([]byte(data)); !slices.Equal(got, want) {
			t.Fatalf("%q in %q: lines %v, want %v (literals %q)", pattern, data, got, want, g.literals)
		}
	})
}

func TestLiteralsOf(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string]string{
		"(?m)func": "func", `(?m)[A-Z][a-z]+Error\(`: "Error(", "(?m)foo|bar": "foo bar", "(?mi)foo": "", "(?m)a*": "", "(?m)x(ab|cd)y+": "ab cd", "(?m)(a|)b": "b", "(?m)(": "",
	} {
		if got := string(bytes.Join(literalsOf(expr), []byte(" "))); got != want {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
}
