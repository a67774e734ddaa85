package view

import (
	"testing"
	"unicode"
)

// TestVisibleHidesNothing: control and invisible characters are escaped, and ordinary
// text stays as it is.
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

// TestHidesNothingThatIsSpelled: a command that spells an escape gets more backslashes, and is not hidden text.
func TestHidesNothingThatIsSpelled(t *testing.T) {
	t.Parallel()
	for _, plain := range []string{`printf '\x1b[0m'`, `grep '\u200b' a.txt`, `C:\x86`, `"\U000e0041"`, "a\tb\\\\x00"} {
		if Hides(plain) {
			t.Errorf("%s hides something", plain)
		}
	}
	for _, evil := range []string{"\x1b[0m", "a\u200b", "\\x1b\x1b", "\xff", "a\rb", "\\\u202e"} {
		if !Hides(evil) {
			t.Errorf("%+q hides nothing", evil)
		}
	}
}

// Different texts do not look alike, even if a name has invalid bytes or spells out an escape.
func TestVisibleTellsApart(t *testing.T) {
	t.Parallel()
	parts := []string{"a", `\`, `\\`, "\xff", "\xfe", "\ufffd", "\u200b", `u200b`, `xff`, `U000e0041`, "\U000e0041", "\x1b", "x1b", "\x80"}
	shown := map[string]string{}
	for _, one := range parts {
		for _, two := range parts {
			for _, three := range parts {
				text := one + two + three
				got := Visible(text)
				if other, taken := shown[got]; taken && other != text {
					t.Errorf("%+q and %+q are both shown as %s", other, text, got)
				}
				shown[got] = text
			}
		}
	}
	for text, want := range map[string]string{
		"bad\xff": `bad\xff`, "bad\xfe": `bad\xfe`, `bad\xff`: `bad\\xff`, "a\u200b": `a\u200b`, `a\u200b`: `a\\u200b`,
		`grep '\bx\.go' C:\users`: `grep '\bx\.go' C:\users`, `printf 'a\n'`: `printf 'a\n'`, "\ufffd": "\ufffd",
	} {
		if got := Visible(text); got != want {
			t.Errorf("%+q is shown as %s, want %s", text, got, want)
		}
	}
}
