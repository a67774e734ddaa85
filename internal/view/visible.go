package view

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/umpirehq/umpire/internal/files/lazyregexp"
)

// blanks are characters that count as printable but show nothing: fillers, joiners and
// variation selectors. Names that differ only in one of them look the same.
var blanks = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, {Lo: 0x115f, Hi: 0x1160, Stride: 1}, {Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
		{Lo: 0x180b, Hi: 0x180d, Stride: 1}, {Lo: 0x180f, Hi: 0x180f, Stride: 1}, {Lo: 0x2800, Hi: 0x2800, Stride: 1},
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, {Lo: 0xfe00, Hi: 0xfe0f, Stride: 1}, {Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0xe0100, Hi: 0xe01ef, Stride: 1}},
}

// Visible returns text of any origin in a form that is safe to show. It escapes
// characters that a terminal or a browser would obey or hide: control, bidi and
// zero-width characters, bytes that are not UTF-8, and printable characters that show
// nothing. It doubles backslashes before an escape and before text that looks like a
// numeric one, so different texts never look alike.
//
// Reasons quote file names and commands that a model chose; shown raw, they could move a
// cursor, hide text, or start a new line.
func Visible(s string) string {
	if printable(s) && !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	before, slashes := rune(0), 0
	for rest := s; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		plain := seen(before, r) && (r != utf8.RuneError || size > 1)
		if slashes > 0 && (!plain || numericEscape.Get().MatchString(rest)) {
			b.WriteString(strings.Repeat(`\`, slashes))
		}
		switch {
		case plain:
			b.WriteString(rest[:size])
		case size == 1 && r == utf8.RuneError:
			fmt.Fprintf(&b, `\x%02x`, rest[0])
		default:
			b.WriteString(escaped(r))
		}
		if slashes++; r != '\\' {
			slashes = 0
		}
		before, rest = r, rest[size:]
	}
	return b.String()
}

// numericEscape matches a numeric escape behind its backslash.
var numericEscape = lazyregexp.Regexp{Text: `^(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})`}

// escaped writes a character as an escape. It escapes blanks as non-ASCII characters,
// because they count as printable.
func escaped(r rune) string {
	if strconv.IsPrint(r) {
		return strings.Trim(strconv.QuoteRuneToASCII(r), "'")
	}
	quoted := strconv.QuoteRune(r)
	return quoted[1 : len(quoted)-1]
}

// seen reports whether a person sees a character that follows another one.
func seen(before, r rune) bool {
	return strconv.IsPrint(r) && (r < 0x300 || !unicode.Is(blanks, r) || presents(before, r))
}

// presents reports whether a character only changes the presentation of the symbol
// before it, as after most emoji.
func presents(before, r rune) bool {
	return (r == 0xfe0e || r == 0xfe0f) && unicode.Is(unicode.So, before)
}

func printable(s string) bool {
	before := rune(0)
	for _, r := range s {
		if !seen(before, r) {
			return false
		}
		before = r
	}
	return utf8.ValidString(s)
}

// ellipsis marks text that was cut.
const ellipsis = "…"

// Clip cuts s to at most limit UTF-16 units, the unit in which JavaScript
// clients count, without splitting a character.
func Clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	units, cut := 0, 0
	for i, r := range s {
		if units < limit {
			cut = i
		}
		units++
		if r > 0xFFFF {
			units++
		}
		if units > limit {
			return s[:cut] + ellipsis
		}
	}
	return s
}

// Brief is text of any origin, cut to limit and made visible.
func Brief(s string, limit int) string { return Clip(Visible(Clip(s, limit)), limit) }
