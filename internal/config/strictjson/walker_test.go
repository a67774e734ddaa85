package strictjson

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestNamesGivenTwiceAreFound wherever they stand, and however many strings look as if
// there were more.
func TestNamesGivenTwiceAreFound(t *testing.T) {
	t.Parallel()
	words := rapid.SampledFrom([]string{`"a"`, `"b"`, `"\u0061"`, `":"`, `"\":\\"`, `"{\"a\":1"`})
	var value func(t *rapid.T, depth int) string
	value = func(t *rapid.T, depth int) string {
		sort := rapid.IntRange(0, 3).Draw(t, "sort")
		if depth == 0 || sort == 0 {
			return words.Draw(t, "text")
		}
		var parts []string
		for range rapid.IntRange(0, 3).Draw(t, "size") {
			part := value(t, depth-1)
			if sort > 1 {
				part = words.Draw(t, "key") + " : " + part
			}
			parts = append(parts, part)
		}
		if sort > 1 {
			return "{" + strings.Join(parts, ", ") + "}"
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	rapid.Check(t, func(t *rapid.T) {
		text := value(t, 3)
		key := twin([]byte(text))
		_, err := Canonical(json.RawMessage(text))
		if (err != nil) != (key != "") {
			t.Fatalf("%s: key %q stands twice, and the error is %v", text, key, err)
		}
	})
}

// TestNumbersAndTextStay checks that nothing is lost on the way.
func TestNumbersAndTextStay(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"n":123456789012345678901234567890.50, "m":1E+2, "z":-0}`: `{"m":1E+2,"n":123456789012345678901234567890.50,"z":-0}`,
		`{"é":"日本語 \ud83d\ude00 \t"}`:                               `{"é":"日本語 😀 \t"}`,
		`{"b":[{"d":1,"c":[]}],"a":{}}`:                             `{"a":{},"b":[{"c":[],"d":1}]}`,
		`  7 `:                                                      `7`,
	} {
		got, err := Canonical(json.RawMessage(in))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", in, got, err, want)
		}
	}
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

// FuzzCanonical compares the single pass with the passes that it replaces.
func FuzzCanonical(f *testing.F) {
	for _, text := range []string{
		`{"b":[1,-0.5e+3,true,null],"a":"\u00e9\ud83d\ude00<"}`, `"\ud800"`, `"\ud800\ud800"`, `"\ud83d\u0041"`, `[1,]`, `[,1]`, `{"a"}`,
		`{"a":1,}`, `01`, `-`, `1.`, `.5`, `1e`, `1e+`, `tru`, `nulll`, `"\x"`, `"\u12"`, `"\`, "\"\x01\"", `"`, `[`, `{`, ``, ` `, `{} {}`, "\xff", "\"\x7f\"",
		strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := Canonical(text)
		valid := utf8.Valid(text) && (json.Valid(text) || len(bytes.TrimSpace(text)) == 0)
		if !valid || len(bytes.TrimSpace(text)) == 0 {
			if (err == nil) != valid {
				t.Fatalf("%q: %v, and it is valid: %t", text, err, valid)
			}
			return
		}
		twice := twin(text) != ""
		if err != nil {
			// Half a character is decoded to the replacement character.
			if !twice && !bytes.Contains(bytes.ToLower(text), []byte(`\ud`)) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		var value any
		if err := decoder.Decode(&value); err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(value)
		if err != nil || twice || !bytes.Equal(got, want) {
			t.Fatalf("%q: %s, want %s, %v, twice: %t", text, got, want, err, twice)
		}
	})
}
