package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/strictjson"
)

// A settings file belongs to its user: it is edited by cutting and pasting bytes at the positions
// from a parser, which leaves everything else unchanged.

// maxSettings bounds the files that are edited or audited.
const maxSettings = 1 << 20

// maxBrackets bounds nesting, counting brackets in strings and comments too: the parser recurses,
// and a stack overflow cannot be recovered.
const maxBrackets = 50_000

// A document is a settings file with the positions of its values.
type document struct {
	text []byte
	root *hujson.Value
}

// parseDocument parses JSON, comments and trailing commas included. Its errors have a line and
// column. An empty file is an empty object.
func parseDocument(text []byte) (*document, error) {
	if len(text) > maxSettings {
		return nil, umpire.Errorf("file of %d bytes is larger than %d", len(text), maxSettings)
	}
	if bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("[")) > maxBrackets {
		return nil, umpire.Errorf("file has more than %d brackets", maxBrackets)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	// The parser keeps slices of its input, and treats a comment at the end of the file as
	// unfinished.
	root, err := hujson.Parse(append(bytes.Clone(text), '\n'))
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	d := &document{text: text, root: &root}
	if _, ok := root.Value.(*hujson.Object); !ok {
		return nil, umpire.Errorf("%s: want an object", d.at(root.StartOffset))
	}
	return d, nil
}

// A position is a position in a file for people, counting from 1.
type position struct{ line, column int }

// String writes the position as parsers' errors do.
func (p position) String() string { return fmt.Sprintf("line %d, column %d", p.line, p.column) }

func (d *document) at(offset int) position {
	before := d.text[:offset]
	return position{1 + bytes.Count(before, []byte("\n")), offset - bytes.LastIndexByte(before, '\n')}
}

// An item is a member of an object or an element of an array.
type item struct {
	name  string // of a member
	value *hujson.Value
	// start and end enclose it, its name included; comma is the offset of the following comma, or
	// -1. lead is the space and comments before it.
	start, end, comma int
	lead              hujson.Extra
}

// items lists the contents of v, if any.
func items(v *hujson.Value) []item {
	var list []item
	switch c := v.Value.(type) {
	case *hujson.Object:
		for i := range c.Members {
			m := &c.Members[i]
			name, _ := m.Name.Value.(hujson.Literal)
			list = append(list, newItem(name.String(), &m.Name, &m.Value, i == len(c.Members)-1))
		}
	case *hujson.Array:
		for i := range c.Elements {
			e := &c.Elements[i]
			list = append(list, newItem("", e, e, i == len(c.Elements)-1))
		}
	}
	return list
}

func newItem(name string, first, value *hujson.Value, last bool) item {
	it := item{name: name, value: value, start: first.StartOffset, end: value.EndOffset, lead: first.BeforeExtra}
	it.comma = it.end + len(value.AfterExtra)
	if last && value.AfterExtra == nil {
		it.comma = -1
	}
	return it
}

// member returns the value under name, or nil. A duplicate name is an error: parsers differ about
// which one counts.
func (d *document) member(object *hujson.Value, name string) (*hujson.Value, error) {
	var found *hujson.Value
	for _, it := range items(object) {
		if it.name != name {
			continue
		}
		if found != nil {
			return nil, umpire.Errorf("%s: %q given twice", d.at(it.start), name)
		}
		found = it.value
	}
	return found, nil
}

// decode returns v as decoded by encoding/json.
func decode(v *hujson.Value) any {
	plain := v.Clone()
	plain.Standardize()
	plain.BeforeExtra, plain.AfterExtra = nil, nil
	var out any
	if err := json.Unmarshal(plain.Pack(), &out); err != nil {
		return nil
	}
	return out
}

func isObject(v *hujson.Value) bool { return v.Value.Kind() == '{' }
func isArray(v *hujson.Value) bool  { return v.Value.Kind() == '[' }

// without returns the text without item i of container. Comments around it stay.
func (d *document) without(container *hujson.Value, i int) []byte {
	list := items(container)
	it := list[i]
	start, end := it.start, it.end
	if i == 0 && len(list) > 1 {
		end = it.comma + 1
		end += len(d.text[end:]) - len(bytes.TrimLeft(d.text[end:], " \t\r\n"))
		return splice(d.text, cut{start, end})
	}
	// Remove the white space before it too, unless it ends a line comment.
	blank := bytes.TrimRight(it.lead, " \t\r\n")
	if len(blank) == 0 || endsLine(d.text[end:]) {
		start -= len(it.lead) - len(blank)
	}
	if i == 0 {
		if it.comma >= 0 {
			return splice(d.text, cut{start, end}, cut{it.comma, it.comma + 1})
		}
		return splice(d.text, cut{start, end})
	}
	comma := list[i-1].comma
	return splice(d.text, cut{comma, comma + 1}, cut{start, end})
}

func endsLine(text []byte) bool {
	return bytes.HasPrefix(text, []byte("\n")) || bytes.HasPrefix(text, []byte("\r\n"))
}

// A cut is a range of bytes to leave out.
type cut struct{ from, to int }

func splice(text []byte, cuts ...cut) []byte {
	var out []byte
	pos := 0
	for _, c := range cuts {
		out = append(out, text[pos:c.from]...)
		pos = c.to
	}
	return append(out, text[pos:]...)
}

// with returns the text with v appended to container, under name if container is an object, laid
// out like its neighbours.
func (d *document) with(container *hujson.Value, name string, v any) []byte {
	closing := container.EndOffset - 1
	end := len(bytes.TrimRight(d.text[:closing], " \t\r\n"))
	base, newline := d.indent(container.StartOffset), d.newline()
	tail := string(d.text[end:closing])
	if !strings.Contains(tail, "\n") {
		tail = newline + base
	}
	inner := base + d.unit()
	list := items(container)
	if len(list) > 0 && strings.Contains(string(list[0].lead), "\n") {
		inner = d.indent(list[0].start)
	}

	var out []byte
	if n := len(list); n > 0 && list[n-1].comma < 0 {
		out = append(out, d.text[:list[n-1].end]...)
		out = append(out, ',')
		out = append(out, d.text[list[n-1].end:end]...)
	} else {
		out = append(out, d.text[:end]...)
	}
	out = append(out, newline+inner...)
	if isObject(container) {
		out = append(out, bytes.TrimSuffix(strictjson.EncodeLine(name), []byte("\n"))...)
		out = append(out, ": "...)
	}
	out = append(out, layout(v, inner, d.unit(), newline)...)
	out = append(out, tail...)
	return append(out, d.text[closing:]...)
}

// layout writes v over several lines, the later ones starting with prefix.
func layout(v any, prefix, unit, newline string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent(prefix, unit)
	if err := e.Encode(v); err != nil {
		return []byte("null")
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	return bytes.ReplaceAll(text, []byte("\n"), []byte(newline))
}

// indent returns the white space that begins the line of offset.
func (d *document) indent(offset int) string {
	from := bytes.LastIndexByte(d.text[:offset], '\n') + 1
	rest := d.text[from:]
	return string(rest[:len(rest)-len(bytes.TrimLeft(rest, " \t"))])
}

// unit returns one step of indentation: that of the file's first member.
func (d *document) unit() string {
	if list := items(d.root); len(list) > 0 && bytes.IndexByte(list[0].lead, '\n') >= 0 {
		if unit := d.indent(list[0].start); unit != "" {
			return unit
		}
	}
	return "  "
}

func (d *document) newline() string {
	if bytes.Contains(d.text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}
