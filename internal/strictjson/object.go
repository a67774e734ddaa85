package adapter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxPayload is the largest payload that is read. The reader at the edge stops
// there too. Real payloads of 3 MB have been seen: a file being written whole.
const MaxPayload = 10 << 20

// An object is one JSON object read with exact key names. encoding/json
// matches names regardless of case and lets the last duplicate win, other
// parsers do not; a call must not mean one thing to umpire and another to the
// agent that runs it.
type object map[string]json.RawMessage

// readObject reads payload as one JSON object. Invalid UTF-8 and a name that
// occurs twice in one object, at any depth, are errors.
func readObject(payload []byte) (object, error) {
	if len(payload) > MaxPayload {
		return nil, fmt.Errorf("payload of %d bytes is larger than %d", len(payload), MaxPayload)
	}
	if !utf8.Valid(payload) {
		return nil, errors.New("payload is not valid UTF-8")
	}
	if err := validJSON(payload); err != nil {
		return nil, err
	}
	w := walker{data: payload}
	w.space()
	if w.data[w.pos] != '{' {
		return nil, fmt.Errorf("payload: want an object, got %s", kindOf(payload))
	}
	w.top = Object{}
	err := w.value()
	return w.top, err
}

// validJSON explains why payload is not JSON. It also bounds the depth of
// nesting, as encoding/json does, to 10,000 levels.
func validJSON(payload []byte) error {
	if json.Valid(payload) {
		return nil
	}
	var raw json.RawMessage
	err := json.Unmarshal(payload, &raw)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("payload is not JSON: %w at byte %d", err, syntax.Offset)
	}
	return fmt.Errorf("payload is not JSON: %w", err)
}

// str returns the string under name, "" when it is absent or null.
func (o object) str(name string) (string, error) {
	raw, ok := o[name]
	if !ok || string(raw) == "null" {
		return "", nil
	}
	if raw[0] != '"' {
		return "", fmt.Errorf("%s: want a string, got %s", name, KindOf(raw))
	}
	return unquote(raw), nil
}

// needStr returns the string under name, which must be there and not empty.
func (o object) needStr(name string) (string, error) {
	s, err := o.str(name)
	if err == nil && s == "" {
		return "", fmt.Errorf("%s: missing", name)
	}
	return s, err
}

// flag returns the boolean under name, false when it is absent or null.
func (o object) flag(name string) (bool, error) {
	switch raw := o[name]; string(raw) {
	case "true":
		return true, nil
	case "false", "null", "":
		return false, nil
	default:
		return false, fmt.Errorf("%s: want true or false, got %s", name, KindOf(raw))
	}
}

// child returns the object under name, nil when it is absent or null.
func (o object) child(name string) (object, error) {
	raw, ok := o[name]
	if !ok || string(raw) == "null" {
		return nil, nil
	}
	if raw[0] != '{' {
		return nil, fmt.Errorf("%s: want an object, got %s", name, KindOf(raw))
	}
	w := walker{data: raw, top: Object{}}
	err := w.value()
	return w.top, err
}

// strs returns the list of strings under name, nil when it is absent or null.
func (o object) strs(name string) ([]string, error) {
	raw, ok := o[name]
	if !ok {
		return nil, nil
	}
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("%s: want a list of strings", name)
	}
	return list, nil
}

// oneSpelling refuses names that differ only in case: readers that fold case
// would take one for the other.
func (o object) oneSpelling() error {
	seen := make(map[string]string, len(o))
	for name := range o {
		folded := strings.ToLower(strings.ToUpper(name))
		if other, ok := seen[folded]; ok {
			return fmt.Errorf("both %q and %q", min(name, other), max(name, other))
		}
		seen[folded] = name
	}
	return nil
}

// KindOf names the kind of a JSON value as an error message needs it.
func KindOf(raw []byte) string {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// unquote returns the text of a JSON string that is known to be valid.
func unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return ""
	}
	return s
}
