package docedit

import (
	"cmp"
	"errors"
	"iter"
	"slices"

	"github.com/umpirehq/umpire"
)

// A Kind is the sort of a value.
type Kind uint8

// The kinds. A date is a string.
const (
	Null Kind = iota
	Bool
	Number
	String
	List
	Object
)

var kindNames = [...]error{
	Null: errors.New("null"), Bool: errors.New("true or false"), Number: errors.New("a number"),
	String: errors.New("a string"), List: errors.New("a list"), Object: errors.New("an object"),
}

// String names the kind with its article.
func (k Kind) String() string { return kindNames[k].Error() }

// A Value is a value in a file.
type Value struct {
	Pos

	Kind Kind
	// Key is the name of a member of an object, and KeyPos its position.
	Key    string
	KeyPos Pos
	// Text is the content of a string, and the literal of another scalar.
	Text string
	// Items are the elements of a list, or the members of an object in the order of the file.
	Items []*Value
	// Parent is the list or object with the value; it is nil for the root.
	Parent *Value

	end  int  // offset of the end, in JSON
	bare bool // a scalar of YAML without quotes
}

// DuplicateKey returns the error for a key that an object has twice. Parsers differ about which of
// them counts.
func DuplicateKey(key string) error { return umpire.Errorf("duplicate key %q", key) }

// Members iterates over the members of an object. again reports whether an earlier member has the
// same key.
func (v *Value) Members() iter.Seq2[*Value, bool] {
	return func(yield func(m *Value, again bool) bool) {
		if v.Kind != Object {
			return
		}
		seen := make(map[string]bool, len(v.Items))
		for _, m := range v.Items {
			if !yield(m, seen[m.Key]) {
				return
			}
			seen[m.Key] = true
		}
	}
}

// Member returns the member with a key, or nil if v is not an object or does not have it. A
// duplicate key is an error.
func (v *Value) Member(key string) (found *Value, err error) {
	for m, again := range v.Members() {
		if m.Key == key && again {
			return nil, m.KeyPos.Fault(DuplicateKey(key))
		}
		if m.Key == key {
			found = m
		}
	}
	return found, nil
}

// At returns the value at a path of keys, or a null without Parent if the file does not have it. The last of
// several members with one key counts, as for most parsers.
func (v *Value) At(path ...string) *Value {
	for _, key := range path {
		found := &Value{}
		for m := range v.Members() {
			if m.Key == key {
				found = m
			}
		}
		v = found
	}
	return v
}

// Want returns an error if v has another kind.
func (v *Value) Want(kind Kind) error {
	if v.Kind == kind {
		return nil
	}
	return umpire.Errorf("want %w, not %w", kindNames[kind], kindNames[v.Kind])
}

// Texts returns the strings of a list, or a string as a list.
func (v *Value) Texts() []string {
	if v.Kind == String {
		return []string{v.Text}
	}
	var list []string
	for _, item := range v.Items {
		if v.Kind == List && item.Kind == String {
			list = append(list, item.Text)
		}
	}
	return list
}

// Equal reports whether two values have the same content. The order of members does not matter.
func Equal(a, b *Value) bool {
	if a.Kind != b.Kind || a.Text != b.Text || a.Key != b.Key {
		return false
	}
	x, y := a.Items, b.Items
	if a.Kind == Object {
		x, y = sortedByKey(x), sortedByKey(y)
	}
	return slices.EqualFunc(x, y, Equal)
}

func sortedByKey(members []*Value) []*Value {
	return slices.SortedStableFunc(slices.Values(members), func(a, b *Value) int { return cmp.Compare(a.Key, b.Key) })
}

// graft returns a copy of v in which another value replaces the value at. A nil removes it.
func (v *Value) graft(at, with *Value) *Value {
	if v == at {
		return with
	}
	grafted := *v
	grafted.Items = nil
	for _, item := range v.Items {
		if next := item.graft(at, with); next != nil {
			grafted.Items = append(grafted.Items, next)
		}
	}
	return &grafted
}
