package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/umpirehq/umpire"
)

// Canonical returns a JSON value with sorted names and without blanks. Numbers stay as written.
// Empty input becomes an empty object. Text that is not UTF-8, half a character (an unpaired
// surrogate) and a duplicate name in one object are errors.
func Canonical(input json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(input)) == 0 {
		return json.RawMessage("{}"), nil
	}
	w := walker{data: string(input), builds: true}
	value := w.document()
	if err := w.problem(); err != nil {
		return nil, err
	}
	if w.half {
		return nil, errors.New("it contains half a character")
	}
	if w.twice != nil {
		return nil, w.twice
	}
	return json.Marshal(value)
}

// A walker parses JSON once: it checks the grammar, finds duplicate names, and collects the
// requested values. It needs one pass at any nesting depth: a hook that is late lets the call run,
// so no input may make it slow.
type walker struct {
	data string // names are parts of it: they are not copied
	pos  int
	// top, if set, collects the members of the outermost object, as parts of raw.
	top Object
	raw []byte
	// builds is set if the values are needed, with numbers as written.
	builds bool
	path   []step // to the value, for an error

	bad   bool  // not JSON
	half  bool  // a string contains half a character
	twice error // the first duplicate name
}

// maxDepth bounds the nesting, as encoding/json does.
const maxDepth = 10_000

// document skips one value with nothing after it.
func (w *walker) document() any {
	w.space()
	v := w.value()
	w.space()
	w.bad = w.bad || w.pos < len(w.data)
	return v
}

// A step enters an object by a name, or a list by an index.
type step struct {
	name  string
	index int // -1 in an object
}

// problem explains why the text is not JSON.
func (w *walker) problem() error {
	if !utf8.ValidString(w.data) {
		return errors.New("not valid UTF-8")
	}
	if !w.bad {
		return nil
	}
	var raw json.RawMessage
	err := json.Unmarshal([]byte(w.data), &raw)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return umpire.Errorf("not JSON: %w at byte %d", err, syntax.Offset)
	}
	return umpire.Errorf("not JSON: %w", err)
}

// space skips blanks.
func (w *walker) space() {
	for {
		switch w.peek() {
		case ' ', '\t', '\r', '\n':
			w.pos++
		default:
			return
		}
	}
}

// peek returns the next byte, or 0 at the end.
func (w *walker) peek() byte {
	if w.pos < len(w.data) {
		return w.data[w.pos]
	}
	return 0
}

// expect skips a byte, and reports whether it is there.
func (w *walker) expect(c byte) bool {
	if w.peek() != c {
		w.bad = true
		return false
	}
	w.pos++
	return true
}

// value skips one value; pos is at its first byte before, and after its last byte afterwards.
func (w *walker) value() any {
	switch w.peek() {
	case '{':
		return w.object()
	case '[':
		return w.array()
	case '"':
		start := w.pos
		if w.str(); w.builds && !w.bad {
			return unquote(w.data[start:w.pos])
		}
	case 't':
		return w.word("true", true)
	case 'f':
		return w.word("false", false)
	case 'n':
		return w.word("null", nil)
	default:
		start := w.pos
		if w.number(); w.builds && !w.bad {
			return json.Number(w.data[start:w.pos])
		}
	}
	return nil
}

func (w *walker) object() any {
	w.pos++
	seen := map[string]bool{}
	var members map[string]any
	if w.builds {
		members = map[string]any{}
	}
	for w.next('}', len(seen) == 0) {
		start := w.pos
		if w.str(); w.bad {
			return nil
		}
		name := unquote(w.data[start:w.pos])
		if seen[name] && w.twice == nil {
			w.twice = umpire.Errorf(`%s"%s" appears twice`, w.where(), shortenName(name))
		}
		w.space()
		w.expect(':')
		w.space()
		start = w.pos
		w.path = append(w.path, step{name, -1})
		v := w.value()
		w.path = w.path[:len(w.path)-1]
		if len(w.path) == 0 && w.top != nil {
			w.keepMember(name, w.raw[start:w.pos:w.pos], seen[name])
		}
		if w.builds {
			members[name] = v
		}
		seen[name] = true
	}
	return members
}

// keepMember collects a member; it drops all members of a duplicate name.
func (w *walker) keepMember(name string, value []byte, again bool) {
	if again {
		delete(w.top, name)
		return
	}
	w.top[name] = value
}

func (w *walker) array() any {
	w.pos++
	var list []any
	if w.builds {
		list = []any{}
	}
	for i := 0; w.next(']', i == 0); i++ {
		w.path = append(w.path, step{index: i})
		v := w.value()
		w.path = w.path[:len(w.path)-1]
		if w.builds {
			list = append(list, v)
		}
	}
	return list
}

// next moves to the next member or element. At the closing byte it moves past it and returns false,
// as it does if the text is not JSON.
func (w *walker) next(closing byte, first bool) bool {
	w.bad = w.bad || len(w.path) >= maxDepth
	if w.bad {
		return false
	}
	w.space()
	if w.peek() == closing {
		w.pos++
		return false
	}
	if first {
		return true
	}
	ok := w.expect(',')
	w.space()
	return ok
}

// str skips a string.
func (w *walker) str() {
	if !w.expect('"') {
		return
	}
	for w.peek() >= ' ' {
		c := w.data[w.pos]
		w.pos++
		switch c {
		case '"':
			return
		case '\\':
			w.escape()
		}
	}
	w.bad = true
}

// escape skips an escape sequence. It records a lone half of a surrogate pair, because decoding
// turns every such half into the same character.
func (w *walker) escape() {
	if w.pos == len(w.data) {
		w.bad = true
		return
	}
	c := w.data[w.pos]
	w.pos++
	if strings.IndexByte(`"\/bfnrt`, c) >= 0 {
		return
	}
	r := escapedRune(w.data[w.pos-2:])
	if c != 'u' || r < 0 {
		w.bad = true
		return
	}
	w.pos += 4
	if !utf16.IsSurrogate(r) {
		return
	}
	if utf16.DecodeRune(r, escapedRune(w.data[w.pos:])) == utf8.RuneError {
		w.half = true
		return
	}
	w.pos += 6
}

// escapedRune reads \uXXXX at the beginning of a text, or returns -1.
func escapedRune(text string) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(text[2:6], 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// word skips true, false or null, and returns its value.
func (w *walker) word(word string, value any) any {
	for i := range word {
		w.expect(word[i])
	}
	return value
}

// number skips a number.
func (w *walker) number() {
	if w.peek() == '-' {
		w.pos++
	}
	if w.peek() == '0' {
		w.pos++
	} else {
		w.digits()
	}
	if w.peek() == '.' {
		w.pos++
		w.digits()
	}
	if c := w.peek(); c == 'e' || c == 'E' {
		w.pos++
		if c := w.peek(); c == '+' || c == '-' {
			w.pos++
		}
		w.digits()
	}
}

// digits skips one digit or more.
func (w *walker) digits() {
	start := w.pos
	for c := w.peek(); c >= '0' && c <= '9'; c = w.peek() {
		w.pos++
	}
	w.bad = w.bad || w.pos == start
}

// where returns the path of the object that an error is about, with a colon; "" for the outermost one.
func (w *walker) where() string {
	var text strings.Builder
	for i, s := range w.path[:min(len(w.path), maxPathShown)] {
		switch {
		case s.index >= 0:
			fmt.Fprintf(&text, "[%d]", s.index)
		case i == 0:
			text.WriteString(shortenName(s.name))
		default:
			text.WriteString("." + shortenName(s.name))
		}
	}
	if text.Len() > 0 {
		text.WriteString(": ")
	}
	return text.String()
}

// Limits on the part of a stranger's text that an error shows.
const (
	maxPathShown = 6
	maxNameShown = 100
)

// shortenName returns a name for an error: without control characters, and not too long.
func shortenName(name string) string {
	if len(name) > maxNameShown {
		name = strings.ToValidUTF8(name[:maxNameShown], "") + "…"
	}
	quoted := strconv.Quote(name)
	return quoted[1 : len(quoted)-1]
}

// UnquoteText returns the text of a JSON string that is known to be valid, with U+FFFD for bytes that are not UTF-8.
func UnquoteText(raw []byte) string { return unquote(string(raw)) }

func unquote(text string) string {
	if strings.IndexByte(text, '\\') < 0 && utf8.ValidString(text) {
		return text[1 : len(text)-1]
	}
	var s string
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return ""
	}
	return s
}
