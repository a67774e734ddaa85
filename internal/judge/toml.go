package judge

import (
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/umpirehq/umpire"
)

// decodeTOML decodes a TOML file. Texts, lists and tables have their values; for everything else
// only the type counts. The library's decoder does the same by reflection, which is a large part of
// umpire-hook.
func decodeTOML(data []byte) (map[string]any, error) {
	d := tomlDecoder{root: map[string]any{}, heads: map[string]bool{}}
	d.table = d.root
	var p unstable.Parser
	p.Reset(data)
	for p.NextExpression() {
		if err := d.readExpression(p.Expression()); err != nil {
			return nil, err
		}
	}
	return d.root, p.Error()
}

type tomlDecoder struct {
	root, table map[string]any
	heads       map[string]bool // the tables that have their own head
	level       int
}

// maxTOMLLevels bounds the nesting of tables and lists.
const maxTOMLLevels = 100

func (d *tomlDecoder) readExpression(n *unstable.Node) error {
	switch n.Kind {
	case unstable.KeyValue:
		return d.set(d.table, n)
	case unstable.Table, unstable.ArrayTable:
		return d.openTable(n)
	default: // a comment
		return nil
	}
}

// openTable makes the table of a head the current one for keys. A list of tables has only the last
// one.
func (d *tomlDecoder) openTable(n *unstable.Node) error {
	list := n.Kind == unstable.ArrayTable
	var names []string
	d.table = d.root
	for keys := n.Key(); keys.Next(); {
		key := string(keys.Node().Data)
		names = append(names, key)
		if list && keys.IsLast() {
			if _, plain := d.table[key].(map[string]any); d.table[key] != nil && !plain {
				return duplicateKey(key)
			}
			d.table[key] = map[string]any{}
		}
		next, err := enterTable(d.table, key)
		if err != nil {
			return err
		}
		d.table = next
	}
	path := strings.Join(names, "\x00")
	if d.heads[path] && !list {
		return duplicateKey(path)
	}
	d.heads[path] = true
	return nil
}

func enterTable(table map[string]any, key string) (map[string]any, error) {
	if table[key] == nil {
		table[key] = map[string]any{}
	}
	next, ok := table[key].(map[string]any)
	if !ok {
		return nil, duplicateKey(key)
	}
	return next, nil
}

func duplicateKey(key string) error { return umpire.Errorf("duplicate key %q", key) }

// set sets one key, which must not have a value yet.
func (d *tomlDecoder) set(table map[string]any, n *unstable.Node) error {
	for keys := n.Key(); keys.Next(); {
		key := string(keys.Node().Data)
		if !keys.IsLast() {
			next, err := enterTable(table, key)
			if err != nil {
				return err
			}
			table = next
			continue
		}
		if table[key] != nil {
			return duplicateKey(key)
		}
		v, err := d.decodeValue(n.Value())
		if err != nil {
			return err
		}
		table[key] = v
	}
	return nil
}

func (d *tomlDecoder) decodeValue(n *unstable.Node) (any, error) {
	if d.level++; d.level > maxTOMLLevels {
		return nil, umpire.Errorf("TOML: more than %d levels", maxTOMLLevels)
	}
	defer func() { d.level-- }()
	switch n.Kind {
	case unstable.String:
		return string(n.Data), nil
	case unstable.Bool:
		return false, nil
	case unstable.Array:
		list := []any{}
		for items := n.Children(); items.Next(); {
			v, err := d.decodeValue(items.Node())
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case unstable.InlineTable:
		table := map[string]any{}
		for items := n.Children(); items.Next(); {
			if err := d.set(table, items.Node()); err != nil {
				return nil, err
			}
		}
		return table, nil
	}
	return int64(0), nil
}
