package docedit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// yamlLayouts maps values as people write them, which replace % in a frame, to the rest of the line
// once another value has replaced them.
var yamlLayouts = map[string]string{
	" word": "", " 12 # a": " # a", " 'it''s # b'": "", ` "a\" # b" # c`: " # c", " [a, 'b]', # c\n      {d: e}] # f": " # f", " {}": "",
	"": "", " # a": " # a", " ~": "", "\n      - a # b\n      - c": "", "\n      b: {c: d}\n      e: f": "", " # a\n      - b": " # a",
	" |\n      a # b\n\n      c": "", " >-\n      a\n      b": "", " a b\n       c": "", " !!str 5 # a": " # a", " &x [a]": "",
}

// yamlFrames are files around the value of the key x. ^ is the place of another key beside it.
var yamlFrames = map[string]string{
	"top":    "# top\n'y': [1,   2]   # y\n\nx:%^\n\n# end\n",
	"nested": "in:\n  # first\n  y:   z\n  x:%\n  last:\n  - 1\n  - 2^\n\nafter: |\n  text\n",
	"last":   "in:\n    x:%^",
}

// TestSet: setting a value changes the bytes of that value only.
func TestSet(t *testing.T) {
	t.Parallel()
	for frame, text := range yamlFrames {
		for layout, rest := range yamlLayouts {
			for _, windows := range []bool{false, true} {
				path := []string{"in", "x"}
				if frame == "top" {
					path = path[1:]
				}
				before := strings.Replace(strings.Replace(text, "^", "", 1), "%", layout, 1)
				replaced := strings.Replace(strings.Replace(text, "^", "", 1), "%", " word"+rest, 1)
				more := "\n" + strings.Repeat(" ", len("    ")*(len(path)-1)) + "new: [\"a\", \"b\"]"
				if frame == "nested" {
					more = strings.Replace(more, "    ", "  ", 1)
				}
				added := strings.Replace(strings.Replace(text, "%", layout, 1), "^", more, 1)
				if windows {
					before, replaced, added = crlf(before), crlf(replaced), crlf(added)
				}
				checkSet(t, before, replaced, "word", path)
				if frame != "last" || !strings.ContainsAny(layout, "|>") { // a line end would belong to the text
					checkSet(t, before, added, []string{"a", "b"}, append(path[:len(path)-1:len(path)-1], "new"))
				}
			}
		}
	}
}

func crlf(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }

func checkSet(t *testing.T, before, want string, value any, path []string) {
	t.Helper()
	next, err := open(t, YAML, before).Set(value, path...)
	if err != nil {
		t.Fatalf("%v in\n%s", err, before)
	}
	if diff := cmp.Diff(want, string(next.Bytes())); diff != "" {
		t.Errorf("set %s in\n%s\n(-want +got):\n%s", path, before, diff)
	}
}

func TestSetAddsObjects(t *testing.T) {
	t.Parallel()
	for before, want := range map[string]string{
		"":                   "a:\n  b:\n    c: w\n",
		"# only":             "# only\na:\n  b:\n    c: w\n",
		"x: 1":               "x: 1\na:\n  b:\n    c: w",
		"a:\nx: 1\n":         "a:\n  b:\n    c: w\nx: 1\n",
		"a: # why\n":         "a: # why\n  b:\n    c: w\n",
		"a: {b: }\n":         "a: {b: {c: w}}\n",
		"{}\n":               "{a: {b: {c: w}}}\n",
		"a: {x: 1} # y\n":    "a: {x: 1, b: {c: w}} # y\n",
		"a:\n      x: 1\n":   "a:\n      x: 1\n      b:\n            c: w\n",
		"'a':\n  \"b\": ~\n": "'a':\n  \"b\": \n    c: w\n",
	} {
		checkSet(t, before, want, "w", []string{"a", "b", "c"})
	}
	for before, want := range map[string]string{
		"a: 1\n": "want an object", "a: [b]\n": "want an object", "a: {b: 1, b: 2}\n": "duplicate key", "{a: {b}}\n": "break the file",
		"a:\n  b: &x {c: d}\n  \"\": 1\n? [a]\n: b": "",
	} {
		if _, err := open(t, YAML, before).Set("w", "a", "b", "c"); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", before, err, want)
		}
	}
}

// TestSetBack: the value that was there can be set again, and nothing else has changed.
func TestSetBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune(`ab'":#{}[]|>&!-, é`))).Draw(t, "text")
		d := open(t, YAML, "a: 1 # x\nb: [c]\n")
		next, err := d.Set(text, "a")
		if err != nil {
			t.Fatal(err)
		}
		if got := next.Root.At("a").Text; got != text {
			t.Fatalf("set %q, got %q", text, got)
		}
		if next, err = next.Set(1, "a"); err != nil || string(next.Bytes()) != string(d.Bytes()) {
			t.Fatalf("%v, %q", err, next.Bytes())
		}
	})
}

// FuzzYAML: an edit of any file fails, or changes one value.
func FuzzYAML(f *testing.F) {
	for layout := range yamlLayouts {
		f.Add([]byte(strings.Replace(strings.Replace(yamlFrames["nested"], "%", layout, 1), "^", "", 1)), "in", "x")
	}
	f.Add([]byte("? [a, b]\n: c\n\"d\": &x {e: *x}\n"), "d", "e")
	f.Add([]byte("a: b\u2028c: \"d\\\n\"\n--- \u0085\n"), "a", "")
	f.Fuzz(func(t *testing.T, text []byte, first, second string) {
		d, err := Open(YAML, text)
		if err != nil {
			return
		}
		next, err := d.Set([]string{"w"}, first, second)
		if err != nil {
			return
		}
		if got := next.Root.At(first, second).Texts(); len(got) != 1 || got[0] != "w" {
			t.Fatalf("%q, %q are %q in\n%s", first, second, got, next.Bytes())
		}
		again, err := next.Set([]string{"w"}, first, second)
		if err != nil || string(again.Bytes()) != string(next.Bytes()) {
			t.Fatalf("setting twice: %v\n%s", err, cmp.Diff(string(next.Bytes()), string(again.Bytes())))
		}
	})
}
