// Package docedit reads and edits settings files that belong to other people: JSON with comments
// and trailing commas, TOML and YAML.
//
// [Open] parses a file to a tree of values with their positions. [Value.Decode] stores a value in
// Go's types, and refuses keys that those do not have. [Doc.Set], [Doc.Append] and [Doc.Delete]
// change one value, and [Doc.PutBlock] and [Doc.CutBlock] the lines between two comments.
//
// An edit returns a new document and leaves the old one alone. It keeps every byte that does not
// belong to its value: comments, order, blank lines, line ends and trailing commas. Deleting an
// appended value restores the file. Each edit parses its result, and fails unless only the value
// has changed.
package docedit

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// A Format is the syntax of a file.
type Format uint8

// The formats.
const (
	JSON Format = iota // with comments and trailing commas
	TOML
	YAML
)

// The limits of a file. Parsers recurse, and a value takes far more room in memory than in the file.
const (
	maxDepth  = 64
	MaxValues = 1_000_000
)

// A Doc is a parsed file. It does not change.
type Doc struct {
	// Root is the file's object.
	Root *Value

	format Format
	mark   string // a byte order mark, if any
	text   string // the text after it
	lines  Lines
}

const byteOrderMark = "\xef\xbb\xbf"

// parsers set the root of a document.
var parsers = [...]func(*Doc) error{JSON: (*Doc).parseJSON, TOML: (*Doc).parseTOML, YAML: (*Doc).parseYAML}

// Open parses a file, whose root must be an object. The error is an [*Error] with the position. A
// file without values is an empty object, except in JSON.
func Open(format Format, text []byte) (*Doc, error) {
	d := &Doc{format: format, text: string(text)}
	if rest, marked := strings.CutPrefix(d.text, byteOrderMark); marked {
		d.mark, d.text = byteOrderMark, rest
	}
	d.lines.Text = d.text
	if at := invalidUTF8(d.text); at >= 0 {
		return nil, d.lines.At(at).Fault(errors.New("invalid UTF-8"))
	}
	if err := parsers[format](d); err != nil {
		return nil, err
	}
	if err := d.Root.Want(Object); err != nil {
		return nil, d.Root.Fault(err)
	}
	return d, nil
}

// Bytes returns the text of the file.
func (d *Doc) Bytes() []byte { return []byte(d.mark + d.text) }

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(text string) int {
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			return i
		}
	}
	return -1
}

// newline returns the file's line end.
func (d *Doc) newline() string {
	if strings.Contains(d.text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// indentAt returns the white space that begins the line of an offset.
func (d *Doc) indentAt(offset int) string {
	line := d.text[strings.LastIndexByte(d.text[:offset], '\n')+1:]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}
