package view

import (
	"bytes"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// VisibleJSON returns equivalent JSON that is safe to show. Characters that a terminal
// would obey or hide, see [Visible], become JSON escapes. It may return its argument.
func VisibleJSON(text []byte) []byte {
	if !bytes.ContainsFunc(text, func(r rune) bool { return r >= 0x7f }) {
		return text // JSON itself escapes lower controls, or uses them as layout
	}
	shown := make([]byte, 0, len(text))
	before := rune(0)
	for rest := text; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r < 0x7f || r != utf8.RuneError && seen(before, r) {
			shown = append(shown, rest[:size]...)
		} else {
			shown = appendEscape(shown, r)
		}
		before, rest = r, rest[size:]
	}
	return shown
}

// appendEscape writes a character as a JSON escape, as a surrogate pair if necessary.
func appendEscape(to []byte, r rune) []byte {
	if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
		return fmt.Appendf(to, `\u%04x\u%04x`, high, low)
	}
	return fmt.Appendf(to, `\u%04x`, r)
}
