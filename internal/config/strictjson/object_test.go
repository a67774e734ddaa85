package strictjson

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestReadObject(t *testing.T) {
	t.Parallel()
	o, err := ReadObject([]byte(` {"a" : 1, "b":{"a":[2, 3]} } `))
	if err != nil || string(o["a"]) != "1" || string(o["b"]) != `{"a":[2, 3]}` {
		t.Errorf("%s, %v", o, err)
	}
	for text, want := range map[string]string{
		``: "got nothing", `{"a":1`: "not JSON: unexpected end", `[1]`: "want a JSON object, got a list", `7`: "want a JSON object, got a number",
		`{"a":}`: "not JSON", `{} {}`: "at byte 4", `{"a":1} x`: "at byte 9", "{\"\xff\":1}": "not valid UTF-8",
		`{"a":1,"a":2}`: `"a" appears twice`, `{"a":1,"\u0061":2}`: `"a" appears twice`,
		`{"a":{"b":[0,{"c":1,"c":2}]}}`: `a.b[1]: "c" appears twice`, "{\"\\n\":{\"x\":1,\"x\":1}}": `\n: "x" appears twice`,
		strings.Repeat(`{"a":`, 20_000): "exceeded max depth",
	} {
		if _, err := ReadObject([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %s", text, err, want)
		}
	}
}

// TestGivenTwiceKeepsTheRest: the error can still be reported to the sender by a unique member.
func TestGivenTwiceKeepsTheRest(t *testing.T) {
	t.Parallel()
	o, err := ReadObject([]byte(`{"input":{"a":1,"a":2},"id":7,"x":1,"x":2}`))
	if err == nil || string(o["id"]) != "7" || o["x"] != nil {
		t.Errorf("%s, %v", o, err)
	}
}

func TestMembers(t *testing.T) {
	t.Parallel()
	o, err := ReadObject([]byte(`{"text":"a\u0062","none":null,"on":true,"child":{"x":1},"list":["a"],"n":1,"id":"a\u0007"}`))
	if err != nil {
		t.Fatal(err)
	}
	if s, err := o.Text("text"); s != "ab" || err != nil {
		t.Error(s, err)
	}
	if s, err := o.Text("none"); s != "" || err != nil {
		t.Error(s, err)
	}
	if on, err := o.Flag("on"); !on || err != nil {
		t.Error(on, err)
	}
	if c, err := o.Child("child"); string(c["x"]) != "1" || err != nil {
		t.Error(c, err)
	}
	if l, err := o.Texts("list"); len(l) != 1 || l[0] != "a" || err != nil {
		t.Error(l, err)
	}
	for _, read := range []func(string) error{
		func(name string) error { _, err := o.Text(name); return err },
		func(name string) error { _, err := o.RequiredText(name); return err },
		func(name string) error { _, err := o.Flag(name); return err },
		func(name string) error { _, err := o.Child(name); return err },
		func(name string) error { _, err := o.Texts(name); return err },
	} {
		if err := read("n"); err == nil || !strings.HasPrefix(err.Error(), "n: want ") {
			t.Errorf("a number: %v", err)
		}
	}
	if _, err := o.RequiredText("missing"); err == nil {
		t.Error("a missing text is no error")
	}
	if _, err := o.ID("id"); err == nil {
		t.Error("an id with a control character is no error")
	}
	twins := Object{"a": nil, "A": nil}
	if err := twins.CheckSpelling(); err == nil {
		t.Error("two spellings are no error")
	}
}

// TestEveryDamageIsRefused: a text that was cut or altered anywhere is an error where the
// standard library says so, and never a panic. No byte lies behind the text.
func TestEveryDamageIsRefused(t *testing.T) {
	t.Parallel()
	const whole = `{"a":"\\\u00e9\ud83d\ude00\n\"","b\t":[1,true,null,{"c":-1.5e3,"d":""}],"e":{}}`
	check := func(text []byte) {
		text = slices.Clip(text)
		if _, err := ReadObject(text); err == nil && !json.Valid(text) {
			t.Errorf("%s is read", text)
		}
	}
	for i := range len(whole) {
		check([]byte(whole[:i]))
		for _, c := range []byte("\\\"{}[]:,u0\x00") {
			altered := []byte(whole)
			altered[i] = c
			check(altered)
			check(altered[:i+1])
		}
	}
}
