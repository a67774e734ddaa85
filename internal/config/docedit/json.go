package docedit

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/umpirehq/umpire"
)

func (d *Doc) parseJSON() error {
	if at := tooMuch(d.text); at >= 0 {
		return d.lines.At(at).Fault(umpire.Errorf("nested deeper than %d levels, or more than %d values", maxDepth,
			MaxValues))
	}
	// The parser takes a comment at the end of the file for an unfinished one.
	tree, err := hujson.Parse([]byte(d.text + "\n"))
	if err != nil {
		return d.syntaxFault(err)
	}
	d.Root = &Value{}
	d.convert(d.Root, &tree)
	return nil
}

// syntaxFault takes the position out of the parser's text, which is the only form in which the
// parser gives it.
func (d *Doc) syntaxFault(err error) error {
	var line, column int
	if _, scanErr := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scanErr != nil {
		return err
	}
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the file ends too early")
	}
	return d.lines.At(d.lines.offset(line, column)).Fault(err)
}

// convert fills v from a value of the parser.
func (d *Doc) convert(v *Value, from *hujson.Value) {
	v.Pos, v.end = d.lines.At(from.StartOffset), from.EndOffset
	switch from := from.Value.(type) {
	case *hujson.Object:
		v.Kind = Object
		v.addItems(len(from.Members))
		for i, item := range v.Items {
			name := &from.Members[i].Name
			item.Key, item.KeyPos = unquote(d.text[name.StartOffset:name.EndOffset]), d.lines.At(name.StartOffset)
			d.convert(item, &from.Members[i].Value)
		}
	case *hujson.Array:
		v.Kind = List
		v.addItems(len(from.Elements))
		for i, item := range v.Items {
			d.convert(item, &from.Elements[i])
		}
	case hujson.Literal:
		v.Kind, v.Text = literalKinds[from.Kind()], d.text[v.Offset:v.end]
		if v.Kind == String {
			v.Text = unquote(v.Text)
		}
	}
}

var literalKinds = map[hujson.Kind]Kind{'n': Null, 'f': Bool, 't': Bool, '0': Number, '"': String}

// addItems gives v new items.
func (v *Value) addItems(n int) {
	items := make([]Value, n)
	v.Items = make([]*Value, n)
	for i := range items {
		items[i].Parent = v
		v.Items[i] = &items[i]
	}
}

// unquote returns the content of a string in quotes, which the parser has checked.
func unquote(literal string) string {
	if !strings.Contains(literal, `\`) {
		return literal[1 : len(literal)-1]
	}
	return hujson.Literal(literal).String()
}

// tooMuch returns the offset at which brackets nest too deeply or values become too many, or -1. It
// skips strings and comments the way the parser does.
func tooMuch(text string) int {
	depth, values := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			i += max(CommentLen(text[i:])-1, 0)
		case '[', '{':
			if depth++; depth > maxDepth {
				return i
			}
		case ']', '}':
			depth--
		case ',':
			if values++; values > MaxValues {
				return i
			}
		}
	}
	return -1
}

// CommentLen returns the length of the JSON comment that a text begins with, or 0. The line end
// that ends a comment is not a part of it, and a comment without an end takes the whole text.
func CommentLen(text string) int {
	end, skip := "\n", 0
	switch {
	case strings.HasPrefix(text, "/*"):
		end, skip = "*/", 2
	case !strings.HasPrefix(text, "//"):
		return 0
	}
	if n := strings.Index(text[2:], end); n >= 0 {
		return 2 + n + skip
	}
	return len(text)
}
