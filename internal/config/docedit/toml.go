package docedit

import (
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

func (d *Doc) parseTOML() error {
	var file map[string]any
	if err := toml.Unmarshal([]byte(d.text), &file); err != nil {
		syntax, ok := errors.AsType[*toml.DecodeError](err)
		if !ok {
			return err
		}
		line, column := syntax.Position()
		text := strings.TrimPrefix(err.Error(), "toml: ")
		return d.lines.At(d.lines.offset(line, column)).Fault(errors.New(text))
	}
	r := tomlReader{doc: d, members: map[tomlKey]*Value{}}
	d.Root = &Value{Kind: Object, Pos: d.lines.At(0)}
	r.parser.Reset([]byte(d.text))
	for table := d.Root; r.parser.NextExpression(); {
		switch n := r.parser.Expression(); n.Kind {
		case unstable.KeyValue:
			r.convert(r.enter(table, n.Key()), n.Value())
		case unstable.Table:
			table = r.enter(d.Root, n.Key())
			table.Kind = Object
		case unstable.ArrayTable:
			list := r.enter(d.Root, n.Key())
			table = &Value{Kind: Object, Pos: r.doc.lines.At(int(n.Child().Raw.Offset)), Parent: list}
			list.Kind, list.Items = List, append(list.Items, table)
		}
	}
	return r.parser.Error()
}

// A tomlReader converts the expressions of a valid file.
type tomlReader struct {
	doc     *Doc
	parser  unstable.Parser
	members map[tomlKey]*Value
}

type tomlKey struct {
	of  *Value
	key string
}

// enter returns the member at a path of keys, and adds the objects that are missing.
func (r *tomlReader) enter(v *Value, keys unstable.Iterator) *Value {
	for keys.Next() {
		if v.Kind == List { // of tables: the last one is meant
			v = v.Items[len(v.Items)-1]
		}
		v.Kind = Object
		key := tomlKey{v, string(keys.Node().Data)}
		if r.members[key] == nil {
			at := r.doc.lines.At(int(keys.Node().Raw.Offset))
			r.members[key] = &Value{Key: key.key, KeyPos: at, Pos: at, Parent: v}
			v.Items = append(v.Items, r.members[key])
		}
		v = r.members[key]
	}
	return v
}

// convert fills v.
func (r *tomlReader) convert(v *Value, n *unstable.Node) {
	if n.Raw.Length > 0 {
		v.Pos = r.doc.lines.At(int(n.Raw.Offset))
	}
	switch n.Kind {
	case unstable.Array:
		v.Kind = List
		for items := n.Children(); items.Next(); {
			item := &Value{Pos: v.Pos, Parent: v}
			v.Items = append(v.Items, item)
			r.convert(item, items.Node())
		}
	case unstable.InlineTable:
		v.Kind = Object
		for items := n.Children(); items.Next(); {
			r.convert(r.enter(v, items.Node().Key()), items.Node().Value())
		}
	case unstable.Bool:
		v.Kind, v.Text = Bool, string(n.Data)
	case unstable.Integer, unstable.Float:
		v.Kind, v.Text = Number, string(n.Data)
	default:
		v.Kind, v.Text = String, string(n.Data)
	}
}
