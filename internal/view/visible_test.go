package view

import (
	"testing"
	"unicode"
)

// TestVisibleHidesNothing: what a terminal obeys or nobody sees is an escape, and what
// people write stays as it is.
func TestVisibleHidesNothing(t *testing.T) {
	t.Parallel()
	for _, evil := range []string{
		"\x1b[2J", "\u009b31m", "\r", "\b", "\x00", "\x7f", "\u202e", "\u2066", "\u200b", "\u200e", "\u061c", "\ufeff", "\U000e0041", "\u00ad",
		"\u2028", "\u3164", "\u2800", "a\ufe00", "a\U000e0101", "\u034f", "\u180b", "\uffa0",
	} {
		for _, r := range Visible("x" + evil + "y") {
			if !unicode.IsPrint(r) || unicode.Is(blanks, r) {
				t.Errorf("%+q: %+q is shown", evil, r)
			}
		}
	}
	for _, plain := range []string{"", "a b", "工具", "é", "⚠️ ✔️", "✔︎"} {
		if got := Visible(plain); got != plain {
			t.Errorf("%q is shown as %q", plain, got)
		}
	}
}
