// Package strictjson reads untrusted JSON: input that two readers could understand differently is
// an error. It also writes the canonical form of a value, and reads lines in a way that keeps a
// long line from swallowing the next one.
//
//	o, err := strictjson.ReadObject(payload)
//	tool, err := o.RequiredText("tool_name")
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/umpirehq/umpire"
)

// An Object holds the members of a JSON object as written, by their exact names. encoding/json
// matches names regardless of case and lets the last duplicate win, other parsers do not; a call
// must not mean one thing to umpire and another to the agent that runs it.
//
// The methods that read a member return its zero value if it is missing or null. Their errors name
// the member.
type Object map[string]json.RawMessage

// ReadObject reads one JSON object and nothing after it. Text that is not UTF-8, and a duplicate
// name in one object at any depth, are errors. With the latter it still returns the members with
// unique names. It reads the text once, at any nesting depth.
func ReadObject(text []byte) (Object, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, errors.New("want a JSON object, got nothing")
	}
	w := walker{data: string(text), top: Object{}, raw: text}
	w.document()
	if err := w.problem(); err != nil {
		return nil, err
	}
	if kind := KindOf(text); kind != "an object" {
		return nil, umpire.Errorf("want a JSON object, got %s", kind)
	}
	return w.top, w.twice
}

// Text returns a string.
func (o Object) Text(name string) (string, error) {
	raw, ok := o[name]
	if !ok || string(raw) == "null" {
		return "", nil
	}
	if raw[0] != '"' {
		return "", umpire.Errorf("%s: want a string, got %s", name, KindOf(raw))
	}
	return UnquoteText(raw), nil
}

// ID returns a string that is a valid id: see umpire.CheckID.
func (o Object) ID(name string) (string, error) {
	s, err := o.Text(name)
	if err != nil {
		return "", err
	}
	return s, umpire.CheckID(name, s)
}

// RequiredText returns a string; it fails if the string is missing or empty.
func (o Object) RequiredText(name string) (string, error) {
	s, err := o.Text(name)
	if err == nil && s == "" {
		return "", umpire.Errorf("%s: missing", name)
	}
	return s, err
}

// Flag returns a boolean.
func (o Object) Flag(name string) (bool, error) {
	switch raw := o[name]; string(raw) {
	case "true":
		return true, nil
	case "false", "null", "":
		return false, nil
	default:
		return false, umpire.Errorf("%s: want true or false, got %s", name, KindOf(raw))
	}
}

// Child returns an object.
func (o Object) Child(name string) (Object, error) {
	raw, ok := o[name]
	if !ok || string(raw) == "null" {
		return nil, nil
	}
	if raw[0] != '{' {
		return nil, umpire.Errorf("%s: want an object, got %s", name, KindOf(raw))
	}
	w := walker{data: string(raw), top: Object{}, raw: raw}
	w.value()
	return w.top, w.twice
}

// Texts returns a list of strings.
func (o Object) Texts(name string) ([]string, error) {
	raw, ok := o[name]
	if !ok {
		return nil, nil
	}
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, umpire.Errorf("%s: want a list of strings", name)
	}
	return list, nil
}

// CheckSpelling rejects names that differ only in case: readers that fold case would confuse them.
func (o Object) CheckSpelling() error {
	seen := make(map[string]string, len(o))
	for name := range o {
		folded := strings.ToLower(strings.ToUpper(name))
		if other, ok := seen[folded]; ok {
			return umpire.Errorf("both %q and %q", min(name, other), max(name, other))
		}
		seen[folded] = name
	}
	return nil
}

// A Kind names a kind of JSON value in words. It is an error because errors that contain it are
// then translated to the reader's language.
type Kind string //nolint:errname // it is part of errors, but not an error itself

// Error returns the words.
func (k Kind) Error() string { return string(k) }

// KindOf returns the kind of a JSON value for an error message.
func KindOf(raw []byte) Kind {
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
