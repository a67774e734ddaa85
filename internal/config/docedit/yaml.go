package docedit

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/umpirehq/umpire"
)

func (d *Doc) parseYAML() error {
	var document, second yaml.Node
	decoder := yaml.NewDecoder(strings.NewReader(d.text))
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) {
		d.Root = &Value{Kind: Object, Pos: d.lines.At(len(d.text))}
		return nil
	}
	if err == nil {
		if err = decoder.Decode(&second); err == nil {
			return d.lines.At(d.lines.offset(second.Line, 1)).Fault(errors.New("more than one document"))
		}
	}
	if !errors.Is(err, io.EOF) {
		return d.yamlFault(err)
	}
	d.Root = &Value{}
	r := yamlReader{doc: d, line: 1, column: 1}
	err = r.convert(d.Root, document.Content[0], 0)
	if d.Root.Kind == Null {
		d.Root.Kind, d.Root.Text = Object, ""
	}
	return err
}

// yamlFault takes the line out of the parser's text, which is the only form in which the parser
// gives it.
func (d *Doc) yamlFault(err error) error {
	var line int
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if _, scanErr := fmt.Sscanf(text, "line %d:", &line); scanErr != nil {
		return errors.New(text)
	}
	_, text, _ = strings.Cut(text, ": ")
	return d.lines.At(d.lines.offset(line, 1)).Fault(errors.New(text))
}

// A yamlReader converts the parser's nodes, in the order of the file.
type yamlReader struct {
	doc                  *Doc
	offset, line, column int
}

// lineBreaks are the characters that end a line in YAML.
const lineBreaks = "\r\n\u0085\u2028\u2029"

// seek returns the position of a node, which the parser gives as a line and a column.
func (r *yamlReader) seek(n *yaml.Node) Pos {
	text := r.doc.text
	for r.offset < len(text) && (r.line < n.Line || r.line == n.Line && r.column < n.Column) {
		c, size := utf8.DecodeRuneInString(text[r.offset:])
		r.offset += size
		r.column++
		if strings.ContainsRune(lineBreaks, c) && !(c == '\r' && strings.HasPrefix(text[r.offset:], "\n")) {
			r.line, r.column = r.line+1, 1
		}
	}
	return r.doc.lines.At(r.offset)
}

func (r *yamlReader) convert(v *Value, n *yaml.Node, depth int) error {
	v.Pos = r.seek(n)
	step := 1
	switch {
	case n.Kind == yaml.AliasNode || depth > maxDepth:
		return v.Fault(umpire.Errorf("want values without aliases, nested at most %d levels deep", maxDepth))
	case n.Kind == yaml.MappingNode:
		v.Kind, step = Object, 2
	case n.Kind == yaml.SequenceNode:
		v.Kind = List
	default:
		kind, known := yamlKinds[n.ShortTag()]
		if !known {
			kind = String
		}
		v.Kind, v.Text, v.bare = kind, n.Value, n.Style == 0
		return nil
	}
	v.addItems(len(n.Content) / step)
	for i, item := range v.Items {
		if v.Kind == Object {
			item.Key, item.KeyPos = n.Content[2*i].Value, r.seek(n.Content[2*i])
		}
		if err := r.convert(item, n.Content[step*(i+1)-1], depth+1); err != nil {
			return err
		}
	}
	return nil
}

// yamlKinds are the kinds by tag. All others are strings.
var yamlKinds = map[string]Kind{"!!null": Null, "!!bool": Bool, "!!int": Number, "!!float": Number}
