package strictjson

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Lines come out whole, and one that is too long takes nothing along.
func TestReadLine(t *testing.T) {
	t.Parallel()
	const limit = 40
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.StringMatching(`[a-z]{0,60}`)).Draw(t, "lines")
		in := bufio.NewReaderSize(strings.NewReader(strings.Join(lines, "\n")), 16)
		for i, want := range lines {
			if i == len(lines)-1 && want == "" {
				break // the end of the line before
			}
			got, err := ReadLine(in, limit)
			switch {
			case len(want) > limit && !errors.Is(err, ErrLineTooLong):
				t.Fatalf("line %d of %d bytes: %v", i, len(want), err)
			case len(want) <= limit && (err != nil || string(got) != want):
				t.Fatalf("line %d: got %q, %v, want %q", i, got, err, want)
			}
		}
		if _, err := ReadLine(in, limit); !errors.Is(err, io.EOF) {
			t.Fatalf("after the last line: %v", err)
		}
	})
}

func TestReadObject(t *testing.T) {
	t.Parallel()
	fields, err := ReadObject([]byte(`{"a":1,"b":{"a":2,"a":3}}`))
	if err != nil || string(fields["a"]) != "1" || string(fields["b"]) != `{"a":2,"a":3}` {
		t.Errorf("%s, %v", fields, err)
	}
	for text, want := range map[string]string{
		``: "it ends too early", `{"a":1`: "it ends too early", `[1]`: "it does not begin with {", `7`: "it does not begin with {",
		`{"a":1,"a":2}`: `"a" stands twice`, `{"a":1,"\u0061":2}`: `"a" stands twice`, `{"a":}`: `"a": `,
		`{} {}`: "something follows the object", `{"a":1} x`: "something follows the object",
	} {
		if _, err := ReadObject([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
