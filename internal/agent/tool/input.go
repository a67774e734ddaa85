package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// An input is the input of a call, read field by field. Names are compared exactly, as
// in the decision: a field in another case is another field.
type input map[string]json.RawMessage

func readInput(raw json.RawMessage) (input, error) {
	in := input{}
	if len(bytes.TrimSpace(raw)) == 0 {
		return in, nil
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, fmt.Errorf("input: want a JSON object: %w", err)
	}
	return in, nil
}

// field returns the first of the names that is there and is not null.
func (in input) field(names ...string) (name string, raw json.RawMessage) {
	for _, name := range names {
		if raw, ok := in[name]; ok && string(raw) != "null" {
			return name, raw
		}
	}
	return "", nil
}

// stringField returns a string; given reports whether it is present.
func (in input) stringField(names ...string) (text string, given bool, err error) {
	name, raw := in.field(names...)
	if name == "" {
		return "", false, nil
	}
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", true, fmt.Errorf("input.%s: want a string", name)
	}
	return text, true, nil
}

// must returns a string that has to be there.
func (in input) must(names ...string) (string, error) {
	text, given, err := in.stringField(names...)
	if err == nil && !given {
		return "", fmt.Errorf("input.%s: is missing", names[0])
	}
	return text, err
}

// number returns a whole number between least and most, or otherwise when it is not
// there. Models write numbers as strings now and then.
func (in input) number(name string, otherwise, least, most int) (int, error) {
	_, raw := in.field(name)
	if raw == nil {
		return otherwise, nil
	}
	value, err := strconv.ParseFloat(string(bytes.Trim(raw, `"`)), 64)
	if err != nil || value != math.Trunc(value) {
		return 0, fmt.Errorf("input.%s: want a whole number", name)
	}
	if value < float64(least) || value > float64(most) {
		return 0, fmt.Errorf("input.%s: want %d to %d", name, least, most)
	}
	return int(value), nil
}

// flag returns a boolean, or false if it is missing.
func (in input) flag(names ...string) (bool, error) {
	name, raw := in.field(names...)
	switch string(bytes.Trim(raw, `"`)) {
	case "true":
		return true, nil
	case "false", "":
		return false, nil
	}
	return false, fmt.Errorf("input.%s: want true or false", name)
}

// pathFields are the possible names of the path field of a file tool.
var pathFields = []string{"file_path", "path", "filePath"}

// path returns the one path that the input names, or "" if it names no path. The policy
// judges all paths, so two different paths are an error.
func (in input) path() (string, error) {
	path := ""
	for _, name := range pathFields {
		text, given, err := in.stringField(name)
		if err != nil {
			return "", err
		}
		if given && path != "" && text != path {
			return "", fmt.Errorf("input.%s: names another path than %q", name, path)
		}
		if given {
			path = text
		}
	}
	return path, nil
}

// mustPath returns the path of an input that has to have one.
func (in input) mustPath() (string, error) {
	path, err := in.path()
	if err == nil && path == "" {
		return "", errors.New("input.file_path: is missing")
	}
	return path, err
}

// Background reports whether a call's input asks for it to run in the background.
func Background(raw json.RawMessage) bool {
	in, err := readInput(raw)
	if err != nil {
		return false
	}
	for _, name := range backgroundFields {
		if on, err := in.flag(name); on && err == nil {
			return true
		}
	}
	return false
}

// backgroundFields are the names of that wish.
var backgroundFields = []string{"run_in_background", "background"}
