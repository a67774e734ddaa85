package main

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/umpirehq/umpire/internal/adapter"
)

// blanks are characters that count as printable and show nothing: fillers, joiners
// and variation selectors. A name that differs in one of them looks the same.
var blanks = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x034f, 0x034f, 1}, {0x115f, 0x1160, 1}, {0x17b4, 0x17b5, 1}, {0x180b, 0x180d, 1}, {0x180f, 0x180f, 1},
		{0x2800, 0x2800, 1}, {0x3164, 0x3164, 1}, {0xfe00, 0xfe0f, 1}, {0xffa0, 0xffa0, 1},
	},
	R32: []unicode.Range32{{0xe0100, 0xe01ef, 1}},
}

// visible makes text of any origin safe to show: what a terminal would obey, and
// what nobody would see, is written as an escape.
func visible(s string) string {
	s = adapter.Visible(s)
	if !strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(blanks, r) }) {
		return s
	}
	var b strings.Builder
	before := rune(0)
	for _, r := range s {
		if unicode.Is(blanks, r) && !presents(before, r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

// presents reports whether a character only says how the symbol before it is drawn,
// as after most emoji.
func presents(before, r rune) bool {
	return (r == 0xfe0e || r == 0xfe0f) && unicode.Is(unicode.So, before)
}
