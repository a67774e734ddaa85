package strictjson

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/umpirehq/umpire"
)

// A walker goes once over JSON that is known to be valid and finds duplicate names. One pass,
// however deep the nesting: a hook that is late lets the call run, so no input may make it slow.
type walker struct {
	data []byte
	pos  int
	// top, when set, collects the members of the outermost object.
	top  Object
	path []step // to the value, for an error
	// twice says which name was first found to be given twice.
	twice error
}

// A step leads into an object by a name, or into a list by an index.
type step struct {
	name  string
	index int // -1 in an object
}

func (w *walker) space() {
	for w.pos < len(w.data) {
		switch w.data[w.pos] {
		case ' ', '\t', '\r', '\n':
			w.pos++
		default:
			return
		}
	}
}

// value passes over one value; pos stands on its first byte before, and behind
// its last byte after.
func (w *walker) value() {
	switch w.data[w.pos] {
	case '{':
		w.object()
	case '[':
		w.array()
	case '"':
		w.str()
	default:
		w.word()
	}
}

func (w *walker) object() {
	w.pos++
	seen := map[string]bool{}
	for w.next('}') {
		start := w.pos
		w.str()
		name := UnquoteText(w.data[start:w.pos])
		if seen[name] && w.twice == nil {
			w.twice = umpire.Errorf("%s\"%s\" is given twice", w.where(), shortenName(name))
		}
		w.space()
		w.pos++ // the colon
		w.space()
		start = w.pos
		w.path = append(w.path, step{name, -1})
		w.value()
		w.path = w.path[:len(w.path)-1]
		if len(w.path) == 0 && w.top != nil {
			w.keep(name, w.data[start:w.pos:w.pos], seen[name])
		}
		seen[name] = true
	}
}

// keep collects a member; of one that is given twice neither is kept.
func (w *walker) keep(name string, value []byte, again bool) {
	if again {
		delete(w.top, name)
		return
	}
	w.top[name] = value
}

func (w *walker) array() {
	w.pos++
	for i := 0; w.next(']'); i++ {
		w.path = append(w.path, step{index: i})
		w.value()
		w.path = w.path[:len(w.path)-1]
	}
}

// where names the object that an error is about, with a colon; "" is the outermost one.
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

// Limits on what an error shows of a text that a stranger wrote.
const (
	maxPathShown = 6
	maxNameShown = 100
)

// shortenName is a name as an error shows it: without control characters, and not too long.
func shortenName(name string) string {
	if len(name) > maxNameShown {
		name = strings.ToValidUTF8(name[:maxNameShown], "") + "…"
	}
	quoted := strconv.Quote(name)
	return quoted[1 : len(quoted)-1]
}

// next steps to the next member or element. At the closing byte it steps past
// it and reports false.
func (w *walker) next(closing byte) bool {
	w.space()
	if w.data[w.pos] == ',' {
		w.pos++
		w.space()
	}
	if w.data[w.pos] == closing {
		w.pos++
		return false
	}
	return true
}

func (w *walker) str() {
	for w.pos++; w.data[w.pos] != '"'; w.pos++ {
		if w.data[w.pos] == '\\' {
			w.pos++
		}
	}
	w.pos++
}

// word passes over a number, true, false or null.
func (w *walker) word() {
	for w.pos < len(w.data) {
		switch w.data[w.pos] {
		case ',', '}', ']', ' ', '\t', '\r', '\n':
			return
		}
		w.pos++
	}
}
