package adapter

import "fmt"

// A walker goes once over JSON that is known to be valid and refuses duplicate
// names. One pass, however deep the nesting: a hook that is late lets the call
// run, so no input may make it slow.
type walker struct {
	data []byte
	pos  int
	// top, when set, collects the members of the outermost object.
	top   object
	depth int
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
func (w *walker) value() error {
	switch w.data[w.pos] {
	case '{':
		return w.object()
	case '[':
		return w.array()
	case '"':
		w.str()
	default:
		w.word()
	}
	return nil
}

func (w *walker) object() error {
	w.pos++
	w.depth++
	seen := map[string]bool{}
	for w.next('}') {
		start := w.pos
		w.str()
		name := unquote(w.data[start:w.pos])
		if seen[name] {
			return fmt.Errorf("%s: given twice", brief(name, maxName))
		}
		seen[name] = true
		w.space()
		w.pos++ // the colon
		w.space()
		start = w.pos
		if err := w.value(); err != nil {
			return err
		}
		if w.depth == 1 && w.top != nil {
			w.top[name] = w.data[start:w.pos:w.pos]
		}
	}
	w.depth--
	return nil
}

func (w *walker) array() error {
	w.pos++
	w.depth++
	for w.next(']') {
		if err := w.value(); err != nil {
			return err
		}
	}
	w.depth--
	return nil
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
