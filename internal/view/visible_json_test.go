package view

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestVisibleJSON: invisible characters are escaped, all others stay, and a parser
// reads the same value.
func TestVisibleJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{\n  \"a\": 1\n}":             "{\n  \"a\": 1\n}",
		`"中文 é"`:                       `"中文 é"`,
		"\"\u202eevil\u2066\"":         `"\u202eevil\u2066"`,
		"\"\u009b2J \x7f \u200b\"":     `"\u009b2J \u007f \u200b"`,
		"{\"\u202e\":\"\U000e0001\"}":  `{"\u202e":"\udb40\udc01"}`,
		"\"\U0001f600 \\u202e \\\\\"":  "\"\U0001f600 \\u202e \\\\\"",
		"\"\ufeff\u2028\u00ad\u3164\"": `"\ufeff\u2028\u00ad\u3164"`,
	} {
		got := string(VisibleJSON([]byte(text)))
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		var before, after any
		if err := json.Unmarshal([]byte(text), &before); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(got), &after); err != nil {
			t.Errorf("%q: %v", got, err)
			continue
		}
		if !reflect.DeepEqual(before, after) {
			t.Errorf("%q means %q, not %q", got, after, before)
		}
	}
}

func FuzzVisibleJSON(f *testing.F) {
	f.Add("a\u202e\U000e0001")
	f.Fuzz(func(t *testing.T, text string) {
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var before, after string
		if err := json.Unmarshal(raw, &before); err != nil {
			t.Fatal(err)
		}
		shown := VisibleJSON(raw)
		if err := json.Unmarshal(shown, &after); err != nil || before != after {
			t.Errorf("%q became %q: %v", before, after, err)
		}
		if !printable(string(shown)) {
			t.Errorf("%q is not all seen", shown)
		}
	})
}
