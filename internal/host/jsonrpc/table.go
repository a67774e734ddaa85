package jsonrpc

import "slices"

// A Table maps keys to values, and forgets the oldest when it is full. NewTable makes a table. It
// is not safe for concurrent use.
type Table[V any] struct {
	limit int
	order []string
	of    map[string]V
}

// NewTable makes a table that holds at most limit values.
func NewTable[V any](limit int) Table[V] { return Table[V]{limit: limit, of: map[string]V{}} }

// Put stores a value.
func (t *Table[V]) Put(key string, value V) {
	if _, known := t.of[key]; !known {
		t.order = append(t.order, key)
	}
	t.of[key] = value
	for len(t.order) > t.limit {
		delete(t.of, t.order[0])
		t.order = t.order[1:]
	}
}

// Get returns a value.
func (t *Table[V]) Get(key string) (V, bool) {
	value, known := t.of[key]
	return value, known
}

// Take returns a value and removes it.
func (t *Table[V]) Take(key string) (V, bool) {
	value, known := t.of[key]
	if known {
		delete(t.of, key)
		at := slices.Index(t.order, key)
		t.order = slices.Delete(t.order, at, at+1)
	}
	return value, known
}
