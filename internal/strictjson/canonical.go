package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Canonical returns a JSON value with sorted names and without blanks. Numbers stay as they
// are written. No input at all is an empty object. Text that is not UTF-8, half a character
// (an unpaired surrogate) and a name that is given twice in one object are errors.
func Canonical(input json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(input)) == 0 {
		return json.RawMessage("{}"), nil
	}
	if err := checkSyntax(input); err != nil {
		return nil, err
	}
	if err := checkSurrogates(input); err != nil {
		return nil, err
	}
	w := walker{data: input}
	w.space()
	if w.value(); w.twice != nil {
		return nil, w.twice
	}
	decoder := json.NewDecoder(bytes.NewReader(input))
	decoder.UseNumber() // 1 and 1.0 are two values
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

// checkSurrogates refuses half a character, since decoding turns all of them into the same.
func checkSurrogates(valid []byte) error {
	for i := bytes.IndexByte(valid, '\\'); i >= 0 && i < len(valid); i++ {
		if valid[i] != '\\' {
			continue
		}
		i++ // what is escaped: in valid JSON there is something
		if valid[i] != 'u' {
			continue
		}
		r := escapedRune(valid[i-1:])
		i += 4
		if !utf16.IsSurrogate(r) {
			continue
		}
		if utf16.DecodeRune(r, escapedRune(valid[i+1:])) == utf8.RuneError {
			return errors.New("it holds half a character")
		}
		i += 6
	}
	return nil
}

// escapedRune reads \uXXXX at the beginning of a text, -1 if there is something else.
func escapedRune(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}
