package jsonrpc

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"a"}`:        "request",
		`{"jsonrpc":"2.0","id":null,"method":"a"}`:     "notification",
		`{"jsonrpc":"2.0","method":"a\/b","params":1}`: "notification",
		`{"jsonrpc":"2.0","id":"x","result":null}`:     "response",
		`{"jsonrpc":"2.0","id":"x","error":{}}`:        "response",
		`{"jsonrpc":"2.0"}`:                            "nothing",
		`{"id":1,"id":2,"method":"a"}`:                 "error",
		`{"id":1,"Method":"a"}`:                        "error",
		`{"id":1,"method":"a","METHOD":"b"}`:           "error",
		`{"id":1,"method":7}`:                          "error",
		`[{"id":1,"method":"a"}]`:                      "error",
		`{"id":1,"method":"a"} {}`:                     "error",
		``:                                             "error",
	} {
		m, err := Parse([]byte(line))
		got := "nothing"
		switch {
		case err != nil:
			got = "error"
		case m.IsRequest():
			got = "request"
		case m.IsResponse():
			got = "response"
		case m.Method != "":
			got = "notification"
		}
		if got != want {
			t.Errorf("%s: %s (%v), want %s", line, got, err, want)
		}
	}
}

func TestKeysOfEqualIDs(t *testing.T) {
	t.Parallel()
	if KeyOf([]byte(`"a\u0062"`)) != KeyOf([]byte(`"ab"`)) || KeyOf([]byte(`1`)) == KeyOf([]byte(`"1"`)) {
		t.Error("equal ids differ, or different ones do not")
	}
}

// FuzzCall: what Call writes is one line that Parse reads as the same message.
func FuzzCall(f *testing.F) {
	f.Add("session/new", `{"a":1}`)
	f.Fuzz(func(t *testing.T, method, params string) {
		if _, err := Parse([]byte(`{"params":` + params + `}`)); err != nil || strings.Contains(params, "\n") || method == "" {
			return
		}
		line := Call([]byte("7"), method, []byte(params))
		m, err := Parse(line)
		if err != nil || bytes.Count(line, []byte("\n")) != 1 {
			t.Fatalf("%q: %v", line, err)
		}
		if m.Method != strings.ToValidUTF8(method, "\uFFFD") && m.Method != method && strings.ToValidUTF8(method, "") == method {
			t.Errorf("method %q became %q", method, m.Method)
		}
	})
}

func TestPeer(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := NewPeer(strings.NewReader("a\r\n\nlast"), &out)
	for _, want := range []string{"a\r\n", "\n", "last"} {
		line, err := p.Read()
		if err != nil || string(line) != want {
			t.Errorf("%q, %v; want %q", line, err, want)
		}
		if err := p.Write(line); err != nil {
			t.Error(err)
		}
	}
	if _, err := p.Read(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
	if out.String() != "a\r\n\nlast\n" {
		t.Errorf("wrote %q", out.String())
	}
	long := NewPeer(io.MultiReader(strings.NewReader(`{"a":"`), endless{}), io.Discard)
	if _, err := long.Read(); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a line without end: %v", err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
