package docedit

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// A gap is the text beside an item of a list or object: blanks, comments and at most one comma.
type gap struct {
	from  int // its offset in the file
	text  string
	comma int  // offset of the comma in text, or -1
	quiet int  // offset in text of the end of the last comment, without its line end; 0 without one
	open  bool // the last comment goes on to the end of its line
}

// gapBefore returns the gap before item i, or before the closing bracket.
func (d *Doc) gapBefore(of *Value, i int) gap {
	from, to := of.Offset+1, of.end-1
	if i > 0 {
		from = of.Items[i-1].end
	}
	if i < len(of.Items) {
		to = of.Items[i].offset()
	}
	g := gap{from: from, text: d.text[from:to], comma: -1}
	for i := 0; i < len(g.text); i++ {
		if size := CommentLen(g.text[i:]); size > 0 {
			g.open = g.text[i+1] == '/'
			g.quiet = i + len(strings.TrimRight(g.text[i:i+size], "\r"))
			i = g.quiet - 1
		} else if g.text[i] == ',' {
			g.comma = i
		}
	}
	return g
}

// offset returns the offset of a value with its key.
func (v *Value) offset() int {
	if v.Parent.Kind == Object {
		return v.KeyPos.Offset
	}
	return v.Offset
}

// Append returns the JSON document with a value at the end of a list, or under a key at the end of
// an object. It comes behind the comments there, laid out as the item before it. In an empty list
// or object it gets its own line.
func (d *Doc) Append(to *Value, key string, value any) (*Doc, error) {
	if to.Kind != Object {
		key = ""
	}
	added, raw, err := newValue(key, value)
	if err != nil {
		return nil, err
	}
	grown := *to
	grown.Items = append(slices.Clip(to.Items), added)
	return d.edited(d.Root.graft(to, &grown), d.addJSON(to, key, raw)...)
}

func (d *Doc) addJSON(to *Value, key string, raw []byte) []edit {
	n := len(to.Items)
	g := d.gapBefore(to, n)
	at := max(g.comma+1, g.quiet)
	outer, broken := d.indentAt(to.Offset), strings.Contains(g.text[at:], "\n")
	inner, ownLine, tail := outer+d.unit(), broken && g.quiet > 0, ""
	switch {
	case n > 0 && strings.Contains(d.gapBefore(to, n-1).text, "\n"): // the last item has its own line
		inner, ownLine = d.indentAt(to.Items[n-1].offset()), true
	case n > 0 || g.quiet > 0:
	case g.text == "":
		ownLine, tail = true, d.newline()+outer
	default: // blanks, which deleting the item restores
		at, ownLine = 0, broken
		if broken {
			tail = d.newline()
		}
	}
	text := string(raw)
	if ownLine {
		text = d.spread(raw, inner, d.unit())
	}
	if to.Kind == Object {
		text = quote(key) + ": " + text
	}
	if ownLine {
		text = d.newline() + inner + text
	} else if n > 0 || g.quiet > 0 {
		text = " " + text
	}
	if g.comma >= 0 {
		text += ","
	}
	edits := []edit{{g.from + at, g.from + at, text + tail}}
	if n > 0 && g.comma < 0 {
		edits = slices.Insert(edits, 0, edit{g.from, g.from, ","})
	}
	return edits
}

// spread lays JSON out over several lines, the later ones starting with prefix.
func (d *Doc) spread(raw []byte, prefix, unit string) string {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, prefix, unit); err != nil {
		return string(raw)
	}
	return strings.ReplaceAll(b.String(), "\n", d.newline())
}

// Delete returns the JSON document without an item of a list or object. Comments around the item
// stay.
func (d *Doc) Delete(v *Value) (*Doc, error) {
	of := v.Parent
	i := slices.Index(of.Items, v)
	before, after := d.gapBefore(of, i), d.gapBefore(of, i+1)
	lead := before.text[before.comma+1:]
	quiet := max(before.quiet-before.comma-1, 0)
	cut, comma := edit{from: v.offset() - len(lead) + quiet, to: v.end}, edit{}
	switch {
	case len(of.Items) == 1 && before.quiet+after.quiet == 0:
		cut = edit{of.Offset + 1, of.end - 1, emptied(lead, strings.Replace(after.text, ",", "", 1))}
	case after.comma >= 0:
		comma = edit{from: after.from + after.comma, to: after.from + after.comma + 1}
		if lead == "" {
			comma.to += len(d.text[comma.to:]) - len(strings.TrimLeft(d.text[comma.to:], " \t"))
		}
	case i > 0:
		comma = edit{from: before.from + before.comma, to: before.from + before.comma + 1}
	}
	// A comment to the end of the line must not swallow the next text.
	next := cut.to
	if comma.from == next {
		next = comma.to
	}
	if quiet > 0 && before.open && !startsLine(d.text[next:]) {
		cut.text = d.newline()
	}
	edits := []edit{comma, cut}
	if comma.from > cut.from {
		slices.Reverse(edits)
	}
	return d.edited(d.Root.graft(v, nil), edits...)
}

// startsLine reports whether a text begins with a line end, after blanks.
func startsLine(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, " \t\r"), "\n")
}

// emptied returns the blanks that stay in a list or object after its only item is deleted: those
// that [Doc.Append] found there.
func emptied(before, after string) string {
	line := strings.IndexByte(after, '\n')
	switch {
	case line >= 0 && strings.Contains(after[line+1:], "\n"):
		return after[line+1:]
	case line >= 0 || strings.Contains(before, "\n"):
		return ""
	}
	return after
}

// unit returns one step of indentation: that of the file's first member.
func (d *Doc) unit() string {
	for _, item := range d.Root.Items[:min(1, len(d.Root.Items))] {
		if indent := d.indentAt(item.offset()); indent != "" && strings.Contains(d.gapBefore(d.Root, 0).text, "\n") {
			return indent
		}
	}
	return "  "
}

// quote returns a string of JSON.
func quote(text string) string {
	_, raw, _ := newValue("", text) // a string can always be encoded
	return string(raw)
}
