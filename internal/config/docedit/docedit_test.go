package docedit

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func open(t interface{ Fatalf(string, ...any) }, format Format, text string) *Doc {
	d, err := Open(format, []byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return d
}

// jsonLayouts are lists and objects as people write them; each is the value of a key.
var jsonLayouts = []string{
	"[]", "[ ]", "[\n  ]", "[\n\n]", "{}", "{ }", "{\n}", "[ // a\n  ]", "[/* a */]", "[/* a */ ]", "[\n    // a\n    // b\n  ]",
	"[1]", "[1,2]", "[1, 2]", "[ 1, 2 ]", "[1,]", "[1, ]", "[1 /* a */ , 2]", "[1, // a\n  ]", "[1 // a\n  ]",
	"[\n    1,\n    2\n  ]", "[\n    1,\n    2]", "[\n    1,\n    2, // a\n    // b\n  ]", "[\n    1, // a\n    2 // b\n  ]", "[\n\t1\n\t, 2\n]",
	`{"a": 1}`, "{\n    \"a\": 1 // b\n  }", "{\n    \"a\": 1,\n    /* b */ \"c\": 2, /* d */\n  }", `{"a":{"b":[]},}`,
	"[1, /* a\n*/  ]", "[1, // a\n]", "[\n  1\n  // b\n]", "[1, /* a */ 2, /* b */]", "[\n\n    1,\n\n    2\n\n  ]",
}

// jsonFrames are files around a layout, which stands for %.
var jsonFrames = []string{
	`{"x":%}`, "{\n  \"x\": %\n}\n", "\xef\xbb\xbf// top\n{\n    \"y\": {\"z\": [1, 2,]}, // y\n    \"x\": %, // x\n}\n// end", "{\n\t\"x\": %,\n\t\"y\": 1\n}\n",
}

// jsonFile draws a file and the layout of its key x.
func jsonFile(t *rapid.T) string {
	text := strings.Replace(rapid.SampledFrom(jsonFrames).Draw(t, "frame"), "%", rapid.SampledFrom(jsonLayouts).Draw(t, "layout"), 1)
	if rapid.Bool().Draw(t, "windows") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// TestAppendThenDelete: deleting an appended value restores the file, with any layout.
func TestAppendThenDelete(t *testing.T) {
	t.Parallel()
	values := []any{1, "a\n<b>", []any{}, []string{"a", "b"}, map[string]any{"k": []int{1}}}
	rapid.Check(t, func(t *rapid.T) {
		text := jsonFile(t)
		docs := []*Doc{open(t, JSON, text)}
		var paths [][]string
		for n := range rapid.IntRange(1, 3).Draw(t, "times") {
			d, path := docs[n], rapid.SampledFrom([][]string{{}, {"x"}}).Draw(t, "to")
			to, key := d.Root.At(path...), ""
			if to.Kind == Object {
				key = "new" + strings.Repeat("'", n)
			}
			next, err := d.Append(to, key, rapid.SampledFrom(values).Draw(t, "value"))
			if err != nil {
				t.Fatal(err)
			}
			checkBytes(t, string(d.Bytes()), string(next.Bytes()))
			docs, paths = append(docs, next), append(paths, path)
		}
		d := docs[len(paths)]
		for n, path := range slices.Backward(paths) {
			items := d.Root.At(path...).Items
			next, err := d.Delete(items[len(items)-1])
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(docs[n].Bytes()), string(next.Bytes())); diff != "" {
				t.Fatalf("appended and deleted in\n%s\n(-want +got):\n%s", d.Bytes(), diff)
			}
			d = next
		}
	})
}

// checkBytes checks that the only difference between two texts are bytes in the second one.
func checkBytes(t *rapid.T, before, after string) {
	left := before
	for _, c := range []byte(after) {
		if left != "" && left[0] == c {
			left = left[1:]
		}
	}
	if left != "" {
		t.Fatalf("bytes are lost:\n%s\nbecame\n%s", before, after)
	}
}

// TestDeleteAnything: every item can be deleted, and all comments stay.
func TestDeleteAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := jsonFile(t)
		d := open(t, JSON, text)
		for len(d.Root.At("x").Items) > 0 {
			items := d.Root.At("x").Items
			next, err := d.Delete(items[rapid.IntRange(0, len(items)-1).Draw(t, "item")])
			if err != nil {
				t.Fatal(err)
			}
			for _, mark := range []string{"//", "/*"} {
				if strings.Count(string(next.Bytes()), mark) != strings.Count(text, mark) {
					t.Fatalf("a comment is lost:\n%s\nbecame\n%s", d.Bytes(), next.Bytes())
				}
			}
			d = next
		}
	})
}

// FuzzJSON: deleting an appended value restores any file, and every member can be deleted.
func FuzzJSON(f *testing.F) {
	for _, frame := range jsonFrames {
		for _, layout := range jsonLayouts {
			f.Add([]byte(strings.Replace(frame, "%", layout, 1)))
		}
	}
	f.Add([]byte("{\"a\":1}//\u2028"))
	f.Add([]byte("{\"\\ud800\": \"\\u00e4\", \"a\": -1e9}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Open(JSON, text)
		if err != nil {
			return
		}
		for _, to := range append([]*Value{d.Root}, d.Root.Items...) {
			if to.Kind != List && to.Kind != Object {
				continue
			}
			more, err := d.Append(to, "new", map[string]any{"a": []int{1}})
			if err != nil {
				t.Fatal(err)
			}
			grown := more.Root
			if to != d.Root {
				grown = grown.Items[slices.Index(d.Root.Items, to)]
			}
			back, err := more.Delete(grown.Items[len(to.Items)])
			if err != nil || !bytes.Equal(back.Bytes(), text) {
				t.Fatalf("%v\n%s", err, cmp.Diff(string(text), string(back.Bytes())))
			}
		}
		for err == nil && len(d.Root.Items) > 0 {
			d, err = d.Delete(d.Root.Items[0])
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}

// TestErrorsHavePositions: an error of every format has its line and column.
func TestErrorsHavePositions(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		format     Format
		text, want string
	}{
		{JSON, "", "line 1, column 1: the file ends too early"},
		{JSON, "{", "line 1, column 2: the file ends too early"},
		{JSON, "{\n \"é\": tru}", "line 2, column 7: invalid literal: tru"},
		{JSON, "\xef\xbb\xbf[]", "line 1, column 1: want an object, not a list"},
		{JSON, "{\"a\": \"é\xff\"}", "line 1, column 9: invalid UTF-8"},
		{JSON, "{\"a\": " + strings.Repeat("[", 1_000_000), "line 1, column 70: nested deeper"},
		{JSON, "{\"[[\": \"\\\"[\" /*[*/ //[\n}}", "line 2, column 2: invalid character '}' after top-level value"},
		{TOML, "a = 1\n[b]\nc = \n", "line 3, column 5: "},
		{TOML, "a = 1\na = 2\n", "line 2, column 1: "},
		{TOML, "[a]\n[a]\n", "line 2, column "},
		{YAML, "a: 1\nb: [\n", "line 2, column 1: did not find"},
		{YAML, "a: 1\nb\nc: d\n", "line 2, column 1: could not find"},
		{YAML, "- a\n", "line 1, column 1: want an object, not a list"},
		{YAML, "a: &x 1\nb: *x\n", "line 2, column 4: want values without aliases"},
		{YAML, "a: " + strings.Repeat("[", 1000) + strings.Repeat("]", 1000), "line 1, column 68: want values without"},
		{YAML, "a: 1\n---\nb: 1\n", "line 2, column 1: more than one document"},
		{YAML, "a: \x00", "control characters are not allowed"},
	} {
		if _, err := Open(row.format, []byte(row.text)); err == nil || !strings.HasPrefix(err.Error(), row.want) {
			t.Errorf("%.20q: %v, want %s", row.text, err, row.want)
		}
	}
}

// TestFormatsAgree: the same content has the same tree in every format, with the lines of its values.
func TestFormatsAgree(t *testing.T) {
	t.Parallel()
	texts := map[Format]string{
		JSON: "{\"a\": {\"b\": [1, true, \"é\\n\"],\n \"c d\": 1.5},\n \"e\": [{\"f\": \"g\"},\n {\"f\": false}]}",
		TOML: "a.b = [1, true, \"é\\n\"]\na.'c d' = 1.5\n[[e]]\nf = \"g\"\n[[e]]\nf = false\n",
		YAML: "a:\n  b: [1, true, \"é\\n\"]\n  c d: 1.5\ne:\n- f: g\n- {f: false}\n",
	}
	lines := map[Format][]int{JSON: {1, 2, 3, 4}, TOML: {1, 2, 3, 5}, YAML: {2, 3, 5, 6}}
	for format, text := range texts {
		d := open(t, format, text)
		if !Equal(d.Root, open(t, JSON, texts[JSON]).Root) {
			t.Errorf("format %d: %+v", format, d.Root)
		}
		list := d.Root.At("e").Items
		got := []int{d.Root.At("a", "b").Line, d.Root.At("a", "c d").Line, list[0].Line, list[1].Line}
		if diff := cmp.Diff(lines[format], got); diff != "" {
			t.Errorf("format %d: lines (-want +got):\n%s", format, diff)
		}
	}
	if empty := open(t, YAML, "# only\n").Root; empty.Kind != Object || empty.Items != nil {
		t.Errorf("%+v", empty)
	}
}

func TestDuplicateKeys(t *testing.T) {
	t.Parallel()
	d := open(t, JSON, "{\"a\": 1, \"b\": {\"c\": 1,\n\"c\": [\"x\", 2, \"y\"]}}")
	if _, err := d.Root.At("b").Member("c"); err == nil || err.Error() != `line 2, column 1: duplicate key "c"` {
		t.Error(err)
	}
	if got := d.Root.At("b", "c").Texts(); !slices.Equal(got, []string{"x", "y"}) {
		t.Errorf("the last one is %q", got)
	}
	if m, err := d.Root.Member("none"); m != nil || err != nil || d.Root.At("a", "none").Parent != nil {
		t.Errorf("%v, %v", m, err)
	}
}
