package wildcard

import (
	"path"
	"strings"
	"testing"
)

func TestLiteral(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ part, name string }{
		{"[id]", "[id]"}, {"[id]*", "[id].ts"}, {"[...slug]", "[...slug]"}, {"[[...slug]]", "[[...slug]]"},
		{`a\b`, `a\b`}, {`a\b*`, `a\bc`}, {"[a][0-9]*", "[a]7x"}, {"[a][0-9]", "b[0-9]"}, {`\[a]`, `\[a]`}, {"[a", "[a"},
		{"[]a]x[", "[]a]x["}, {"x[", "x["}, {`[\]`, `[\]`},
	} {
		if ok, err := path.Match(Literal(tt.part), tt.name); !ok || err != nil {
			t.Errorf("%q does not match %q, %v", Literal(tt.part), tt.name, err)
		}
	}
	for _, tt := range []struct{ part, name string }{
		{"[a-c]*", "dx"}, {"[a-c]*.go", "a.go"}, {"[0-9][0-9].log", "keep.txt"},
	} {
		if ok, _ := path.Match(Literal(tt.part), tt.name); ok {
			t.Errorf("%q matches %q", Literal(tt.part), tt.name)
		}
	}
	for _, plain := range []string{"", "a", "*.go", "a?"} {
		if got := Literal(plain); got != "" {
			t.Errorf("%q is also %q", plain, got)
		}
	}
}

// FuzzLiteral: a name whose only wildcards are brackets and backslashes matches itself.
func FuzzLiteral(f *testing.F) {
	for _, s := range []string{"[id]", `a\b`, "[a][b]", "[[x]]", `\\[`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if strings.Contains(name, "/") {
			t.Skip("no component of a path")
		}
		pattern := Literal(name)
		if ok, err := path.Match(pattern, name); pattern != "" && (!ok || err != nil) {
			t.Errorf("%q does not match %q, %v", pattern, name, err)
		}
	})
}
