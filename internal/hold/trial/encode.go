package trial

import (
	"encoding/json"
	"errors"
	"reflect"

	"github.com/umpirehq/umpire"
)

// encodePaths returns the JSON of a value that v points to. Paths, links and command lines may have bytes
// that are not UTF-8, so it writes every string as [umpire.EscapePath] does.
func encodePaths(v any) ([]byte, error) {
	escape := func(text string) (string, error) { return umpire.EscapePath(text), nil }
	err := changeStrings(reflect.ValueOf(v), escape)
	data, encodeErr := json.Marshal(v)
	return data, errors.Join(err, encodeErr, changeStrings(reflect.ValueOf(v), umpire.UnescapePath))
}

// decodePaths reads the output of encodePaths into the value that v points to.
func decodePaths(data []byte, v any) error {
	if err := json.Unmarshal(data, v); err != nil {
		return err
	}
	return changeStrings(reflect.ValueOf(v), umpire.UnescapePath)
}

// changeStrings changes every string in a value, except those of a named type, such as ids.
func changeStrings(v reflect.Value, change func(string) (string, error)) (err error) {
	switch v.Kind() { //nolint:exhaustive // the others hold no text
	case reflect.Pointer:
		return changeStrings(v.Elem(), change)
	case reflect.Slice:
		for i := range v.Len() {
			err = errors.Join(err, changeStrings(v.Index(i), change))
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() { // an exported one
				err = errors.Join(err, changeStrings(field, change))
			}
		}
	case reflect.String:
		if text, ok := reflect.TypeAssert[*string](v.Addr()); ok {
			*text, err = change(*text)
		}
	}
	return err
}
