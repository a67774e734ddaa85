package batch

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/strictjson"
)

// ArgsHash returns the hash that an answer is bound to: the SHA-256, in hex, of
// the tool's name and its input in canonical form. The order of keys does not
// matter, and neither do blanks; every value does.
func ArgsHash(tool string, input json.RawMessage) (string, error) {
	canonical, err := Canonical(input)
	if err != nil {
		return "", err
	}
	return CanonicalHash(tool, canonical), nil
}

// CanonicalHash is ArgsHash of an input that Canonical returned.
func CanonicalHash(tool string, canonical json.RawMessage) string {
	sum := sha256.New()
	sum.Write([]byte(tool))
	sum.Write([]byte{0}) // no canonical input holds one
	sum.Write(canonical)
	return hex.EncodeToString(sum.Sum(nil))
}

// Canonical returns a JSON value with sorted keys and without blanks. Numbers
// stay as they are written. No input at all is an empty object. What two readers
// could read as two different values is an error: a key that stands twice, bytes
// that are no text.
func Canonical(input json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(input)) == 0 {
		return json.RawMessage("{}"), nil
	}
	decoder := json.NewDecoder(bytes.NewReader(input))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("input: %w: %w", err, umpire.ErrInvalid)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("input: something follows the JSON value: %w", umpire.ErrInvalid)
	}
	if err := plain(input); err != nil {
		return nil, fmt.Errorf("input: %w: %w", err, umpire.ErrInvalid)
	}
	if colons(input) != members(value) {
		return nil, fmt.Errorf("input: key %q stands twice: %w", twin(input), umpire.ErrInvalid)
	}
	return json.Marshal(value)
}

// members counts the members of all objects in a decoded value.
func members(value any) int {
	n := 0
	switch v := value.(type) {
	case map[string]any:
		n = len(v)
		for _, member := range v {
			n += members(member)
		}
	case []any:
		for _, element := range v {
			n += members(element)
		}
	}
	return n
}

// colons counts those of a valid JSON value that do not stand in strings: every
// member of an object is written with one, also one that decoding drops because
// its key stands twice.
func colons(valid []byte) int {
	n, quoted := 0, false
	for i := 0; i < len(valid); i++ {
		switch c := valid[i]; {
		case c == '\\':
			i++ // only strings hold one
		case c == '"':
			quoted = !quoted
		case c == ':' && !quoted:
			n++
		}
	}
	return n
}

// plain returns an error for strings that cannot be kept as they are: decoding
// would turn different ones into the same.
func plain(valid []byte) error {
	if !utf8.Valid(valid) {
		return errors.New("it is not UTF-8")
	}
	for i := bytes.IndexByte(valid, '\\'); i >= 0 && i < len(valid); i++ {
		if valid[i] != '\\' {
			continue
		}
		i++ // what is escaped: in valid JSON there is something
		if valid[i] != 'u' {
			continue
		}
		r := escaped(valid[i-1:])
		i += 4
		if !utf16.IsSurrogate(r) {
			continue
		}
		if utf16.DecodeRune(r, escaped(valid[i+1:])) == utf8.RuneError {
			return errors.New("it holds half a character")
		}
		i += 6
	}
	return nil
}

// escaped reads \uXXXX at the beginning of a text, -1 if there is something else.
func escaped(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// twin returns a key that stands twice in one object of a valid JSON value, "" when
// none does. It reads slowly.
func twin(valid []byte) string {
	type level struct {
		keys  map[string]bool // nil in an array
		value bool            // a key was read, and its value comes next
	}
	decoder := json.NewDecoder(bytes.NewReader(valid))
	decoder.UseNumber()
	stack := []level{{}}
	for {
		token, err := decoder.Token()
		if err != nil {
			return "" // the end
		}
		top := &stack[len(stack)-1]
		if name, ok := token.(string); ok && top.keys != nil && !top.value {
			if top.keys[name] {
				return name
			}
			top.keys[name], top.value = true, true
			continue
		}
		switch token {
		case json.Delim('{'):
			top.value = false
			stack = append(stack, level{keys: map[string]bool{}})
		case json.Delim('['):
			top.value = false
			stack = append(stack, level{})
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:len(stack)-1]
		default:
			top.value = false
		}
	}
}
