package adapter

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An Output is what a hook process leaves behind. The zero value says nothing
// and exits 0: no opinion.
type Output struct {
	Stdout []byte
	Stderr []byte
	Exit   int
}

// exitBlock is the exit code that hook clients read as "do not run this".
const exitBlock = 2

// line returns v as one line of JSON. The values given to it hold strings and
// structs of strings only, which always marshal.
func line(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil
	}
	return b.Bytes()
}

// Visible returns text of any origin as it may be shown: what a terminal or a
// browser would obey or hide (control, bidi and zero-width characters, bytes
// that are no UTF-8) is written as an escape.
func Visible(s string) string { return visible(s) }

// visible returns s with everything that is not printable written as an
// escape. Reasons quote file names and commands that a model chose; shown raw,
// they could move a cursor, hide text, or start a line of their own.
func visible(s string) string {
	if printable(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

func printable(s string) bool {
	for _, r := range s {
		if !strconv.IsPrint(r) {
			return false
		}
	}
	return utf8.ValidString(s)
}

// ellipsis marks text that was cut.
const ellipsis = "…"

// clip cuts s to at most limit UTF-16 units, the unit in which JavaScript
// clients count, without splitting a character.
func clip(s string, limit int) string {
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
