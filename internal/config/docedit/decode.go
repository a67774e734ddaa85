package docedit

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
)

// Decode stores v in the variable that into points to. Objects become maps, or structs whose fields
// name their keys in the tag "key"; with ",words" behind the key, a string is a list of its words. A
// *Value takes any value.
// An unknown or duplicate key, and a value of another kind, is an [*Error] that begins with the path
// of the value below v. A null clears lists, maps and pointers, and changes nothing else.
func (v *Value) Decode(into any) error { return v.decode(reflect.ValueOf(into).Elem(), "") }

func (v *Value) decode(into reflect.Value, path string) error {
	if v.Kind == Null {
		if kind := into.Kind(); kind == reflect.Slice || kind == reflect.Map || kind == reflect.Pointer {
			into.SetZero()
		}
		return nil
	}
	if to, raw := reflect.TypeAssert[**Value](into.Addr()); raw {
		*to = v
		return nil
	}
	var err error
	switch into.Kind() { //nolint:exhaustive // the others are scalars
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		return v.decode(into.Elem(), path)
	case reflect.Struct, reflect.Map:
		if err = v.Want(Object); err == nil {
			return v.decodeMembers(into, path)
		}
	case reflect.Slice:
		if err = v.Want(List); err == nil {
			return v.decodeItems(into, path)
		}
	default:
		err = v.decodeScalar(into)
	}
	return v.Fault(under(path, err))
}

// under adds a path to an error.
func under(path string, err error) error {
	if path == "" || err == nil {
		return err
	}
	return umpire.Errorf("%s: %w", path, err)
}

func (v *Value) decodeItems(into reflect.Value, path string) error {
	into.Set(reflect.MakeSlice(into.Type(), len(v.Items), len(v.Items)))
	for i, item := range v.Items {
		if err := item.decode(into.Index(i), fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	return nil
}

func (v *Value) decodeMembers(into reflect.Value, path string) error {
	isMap := into.Kind() == reflect.Map
	if isMap {
		into.Set(reflect.MakeMap(into.Type()))
	}
	for m, again := range v.Members() {
		if again {
			return m.KeyPos.Fault(under(path, DuplicateKey(m.Key)))
		}
		if !isMap {
			if err := m.decodeField(into, path); err != nil {
				return err
			}
			continue
		}
		item := reflect.New(into.Type().Elem()).Elem()
		if err := m.decode(item, join(path, m.Key)); err != nil {
			return err
		}
		into.SetMapIndex(reflect.ValueOf(m.Key).Convert(into.Type().Key()), item)
	}
	return nil
}

func join(path, key string) string { return strings.TrimPrefix(path+"."+key, ".") }

// decodeField stores a member in the field of a struct that names its key.
func (v *Value) decodeField(of reflect.Value, path string) error {
	var known []string
	for field, into := range of.Fields() {
		key, words := strings.CutSuffix(field.Tag.Get("key"), ",words")
		if key == "" {
			continue
		}
		if key != v.Key {
			known = append(known, key)
			continue
		}
		path = join(path, key)
		if words {
			if v = v.words(); slices.ContainsFunc(v.Items, isPhrase) {
				return v.Fault(under(path, errors.New("want words without spaces")))
			}
		}
		return v.decode(into, path)
	}
	if near := Nearest(v.Key, known); near != "" {
		return v.KeyPos.Fault(under(path, umpire.Errorf("unknown key %q; did you mean %q?", v.Key, near)))
	}
	return v.KeyPos.Fault(under(path, umpire.Errorf("unknown key %q; want one of %s", v.Key,
		strings.Join(known, ", "))))
}

// words returns a list of the words of a text. It returns any other value as it is.
func (v *Value) words() *Value {
	if v.Kind != String && !v.bare {
		return v
	}
	list := &Value{Pos: v.Pos, Kind: List}
	for word := range strings.FieldsSeq(v.Text) {
		list.Items = append(list.Items, &Value{Pos: v.Pos, Kind: String, Text: word})
	}
	return list
}

func isPhrase(v *Value) bool { return v.Kind == String && len(strings.Fields(v.Text)) != 1 }

// decodeScalar stores a text, a number or a truth value. A number of YAML is also a text.
func (v *Value) decodeScalar(into reflect.Value) (err error) {
	isText := v.Kind == String || v.bare
	switch to := into.Addr().Interface().(type) {
	case encoding.TextUnmarshaler:
		if isText {
			return to.UnmarshalText([]byte(v.Text))
		}
	case *time.Duration:
		if *to, err = time.ParseDuration(v.Text); err != nil {
			return errors.New("want a duration such as 90s or 10m")
		}
		return nil
	}
	switch kind := into.Kind(); {
	case kind == reflect.Bool:
		word := strings.ToLower(v.Text)
		if into.SetBool(slices.Contains(yes, word)); !slices.Contains(yes, word) && !slices.Contains(no, word) {
			return v.Want(Bool)
		}
	case into.CanInt():
		number, err := strconv.ParseInt(strings.ReplaceAll(v.Text, "_", ""), 0, 64)
		if err != nil || v.Kind != Number || into.OverflowInt(number) {
			return errors.New("want a whole number")
		}
		into.SetInt(number)
	case kind == reflect.String && isText:
		into.SetString(v.Text)
	default:
		return v.Want(String)
	}
	return nil
}

// The words for true and false, some of which only older versions of YAML know.
var yes, no = []string{"true", "yes", "on", "y"}, []string{"false", "no", "off", "n"}
