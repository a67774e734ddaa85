package shell

import "testing"

// A value that would do harm as an option is in doubt, because versions of a program differ in
// the options that take a value. Numbers and plain text are values.
func TestValueLikeAnOptionIsInDoubt(t *testing.T) {
	t.Parallel()
	for line, unasked := range map[string]bool{
		"sort -t -o out in":                         false,
		"tar -s --checkpoint-action=exec=./x -tf a": false,
		"rg -A --pre=./x y":                         false,
		"git log --since --output=x":                false,
		"head -n -5 a":                              true,
		"tail -c -10 a":                             true,
		"date -d '-1 day'":                          true,
		"cut -d - -f 1 a":                           true,
		"grep -e -x a":                              true,
		"rg -e --pre a":                             false,
		"git log --grep -x":                         true,
		"tar -tf - -C .":                            true,
	} {
		if got := runsUnasked(line); got != unasked {
			t.Errorf("%q runs unasked: %v: %+v", line, got, Parse(line, neverSafeEnv))
		}
	}
}
