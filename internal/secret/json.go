package secret

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/umpirehq/umpire/internal/config/strictjson"
)

// JSON returns a JSON value with masked secrets in its strings, and whether it has any.
// Keys, structure, numbers, order and whitespace stay the same, and the result is valid
// JSON. A string is masked completely if its key marks it as secret; a list of strings is
// read as the words of a command. Invalid JSON is masked as text.
func (m *Masker) JSON(value json.RawMessage) (masked json.RawMessage, changed bool) {
	if !json.Valid(value) {
		text := m.Text(string(value))
		return json.RawMessage(text), text != string(value)
	}
	w := &walk{masker: m, in: value}
	w.value("", "")
	if w.out == nil {
		return value, false
	}
	return append(w.out, value[w.copied:]...), true
}

// A walk traverses a valid JSON value and replaces strings.
type walk struct {
	masker *Masker
	in     []byte
	at     int
	out    []byte            // nil until something is replaced
	copied int               // end of the input copied to out
	values map[string]string // the secrets found, and their rules; nil stores none
	short  map[string]string // earlier short texts: most are keys and repeat
}

// maxShort is the maximum length of a text in bytes that is stored in short.
const maxShort = 16

func (w *walk) blanks() {
	for w.at < len(w.in) && isSpace(w.in[w.at]) {
		w.at++
	}
}

// value traverses one value. key is its key, and program is the program whose words a
// list has.
func (w *walk) value(key, program string) {
	w.blanks()
	switch w.in[w.at] {
	case '{':
		w.object(key)
	case '[':
		w.list(key, program)
	case '"':
		start, text := w.str()
		w.maskText(start, key, text)
	default:
		for w.at < len(w.in) && strings.IndexByte(",]} \t\r\n", w.in[w.at]) < 0 {
			w.at++
		}
	}
}

// str reads a string and returns its start, including the quote.
func (w *walk) str() (start int, text string) {
	start = w.at
	plain := true
	for w.at++; w.in[w.at] != '"'; w.at++ {
		if w.in[w.at] == '\\' {
			plain = false
			w.at++
		}
	}
	w.at++
	if plain {
		return start, w.known(w.in[start+1 : w.at-1])
	}
	return start, strictjson.UnquoteText(w.in[start:w.at])
}

// known converts a text to a string, and reuses the strings of short texts.
func (w *walk) known(text []byte) string {
	if len(text) > maxShort {
		return string(text)
	}
	if known, ok := w.short[string(text)]; ok {
		return known
	}
	if w.short == nil {
		w.short = map[string]string{}
	}
	known := string(text)
	w.short[known] = known
	return known
}

// replace replaces the string that starts at start.
func (w *walk) replace(start, end int, text string) {
	var quoted bytes.Buffer
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(text) != nil {
		return // impossible: a string can be encoded
	}
	w.out = append(w.out, w.in[w.copied:start]...)
	w.out = append(w.out, bytes.TrimSuffix(quoted.Bytes(), []byte("\n"))...)
	w.copied = end
}

// maskText masks the last string read.
func (w *walk) maskText(start int, key, text string) {
	found := findSecrets(text)
	if whole, ok := secretOfKey(key, text); ok {
		found = mergeSpans(append(found, whole))
	}
	if len(found) > 0 {
		w.collectSecrets(text, found)
		w.replace(start, w.at, w.masker.replace(text, found))
	}
}

// enough bytes of a text suffice to tell whether it is a secret.
const enough = 1024

// quoteEnds replaces characters that could end a quoted text.
var quoteEnds = strings.NewReplacer(`"`, "_", `\`, "_", "\n", "_")

// secretOfKey returns the part of a text that is secret because of its key.
func secretOfKey(key, text string) (span, bool) {
	if key == "" || text == "" || strings.ContainsAny(key, "\n\"\\") {
		return span{}, false
	}
	var s *scan
	piece := ""
	t := theTable()
	t.finder.eachLiteral(key, func(literal uint16, end int) {
		if end < len(key) {
			return
		}
		if s == nil {
			// Read it as a member with this key. The text cannot end the quotes, and its
			// beginning suffices.
			piece = quoteEnds.Replace(text[:min(len(text), enough)])
			s = &scan{source: source{key + `: "` + piece + `"`}}
		}
		for _, try := range t.actions[literal] {
			try(s, end-t.lengths[literal], end)
		}
	})
	if s == nil {
		return span{}, false
	}
	found := mergeSpans(s.spans)
	if len(found) == 0 {
		return span{}, false
	}
	offset := len(key) + len(`: "`)
	whole := span{found[0].start - offset, found[0].end - offset, found[0].rule, found[0].how}
	if whole.end == len(piece) {
		whole.end = len(text)
	}
	return whole, whole.start >= 0 && whole.end <= len(text)
}

// object traverses the members of an object. A pair of members called name and value is
// read as one member; a single member called value stands for the object.
func (w *walk) object(stands string) {
	program, called := "", stands
	w.at++
	for w.blanks(); w.in[w.at] != '}'; w.blanks() {
		if w.in[w.at] == ',' {
			w.at++
			continue
		}
		_, key := w.str()
		w.blanks()
		w.at++ // the colon
		w.blanks()
		first := w.at
		under := key
		if strings.EqualFold(key, "value") && called != "" {
			under = called
		}
		w.value(under, program)
		if w.in[first] != '"' {
			continue
		}
		switch strings.ToLower(key) {
		case "program", "command", "cmd":
			program = strictjson.UnquoteText(w.in[first:w.at])
		case "name", "key", "header":
			called = strictjson.UnquoteText(w.in[first:w.at])
		}
	}
	w.at++
}

// list traverses a list. If all items are strings, a secret may follow its name:
// --password and then the password. A program that ends in = is a variable that a command
// sets to the first word.
func (w *walk) list(key, program string) {
	begin := w.at
	type item struct{ start, end, from, to int } // in the input, and in the line
	var items []item
	line := program
	w.at++
	for w.blanks(); w.in[w.at] != ']'; w.blanks() {
		if w.in[w.at] == ',' {
			w.at++
			continue
		}
		if w.in[w.at] != '"' {
			w.at = begin
			w.mixedList(key)
			return
		}
		start, text := w.str()
		quote := quoteFor(text)
		if !strings.HasSuffix(line, "=") || len(items) > 0 {
			line += " "
		}
		line += quote
		items = append(items, item{start, w.at, len(line), len(line) + len(text)})
		line += text + quote
	}
	w.at++
	found := findSecrets(line)
	for _, it := range items {
		if inside := spansWithin(found, it.from, it.to); len(inside) > 0 {
			w.collectSecrets(line[it.from:it.to], inside)
			w.replace(it.start, it.end, w.masker.replace(line[it.from:it.to], inside))
		}
	}
}

// quoteFor returns the quotes that a shell needs around a word.
func quoteFor(text string) string {
	switch {
	case text != "" &&
		strings.IndexFunc(
			text, func(r rune) bool { return r > 127 || !isName(byte(r)) && !strings.ContainsRune("/=:@%+,", r) },
		) < 0:
		return ""
	case strings.Contains(text, "'"):
		return `"`
	}
	return "'"
}

// spansWithin returns the parts of spans inside a piece, relative to its start.
func spansWithin(spans []span, from, to int) (inside []span) {
	for _, s := range spans {
		if s.start < to && from < s.end {
			inside = append(inside, span{max(s.start, from) - from, min(s.end, to) - from, s.rule, s.how})
		}
	}
	return inside
}

func (w *walk) mixedList(key string) {
	w.at++
	for w.blanks(); w.in[w.at] != ']'; w.blanks() {
		if w.in[w.at] == ',' {
			w.at++
			continue
		}
		w.value(key, "")
	}
	w.at++
}
