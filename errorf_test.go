package umpire_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// TestErrorf: an error has the same text as in package fmt, and also has it as a phrase.
func TestErrorf(t *testing.T) {
	t.Parallel()
	path := &fs.PathError{Op: "open", Path: "/a b", Err: fs.ErrNotExist}
	for _, tt := range []struct {
		format string
		args   []any
		phrase umpire.Phrase
	}{
		{"not known", nil, `error("not known")`},
		{"100%%", nil, `error("100%")`},
		{"key %q stands twice", []any{"x"}, `error("key %q stands twice","\"x\"")`},
		{"%04d_%s: %w", []any{7, "a", io.EOF}, `error("%04d_%s: %w","0007","a",error("EOF"))`},
		{"a: %w", []any{umpire.Errorf("b %d", 1)}, `error("a: %w",error("b %d","1"))`},
		{"a: %v", []any{path}, `error("a: %v",error("open %s: %w","/a b",error("file does not exist")))`},
		{"a: %w", []any{fmt.Errorf("b: %w", io.EOF)}, `error("a: %w",error("%s%w","b: ",error("EOF")))`},
		{"%w, %w", []any{io.EOF, errors.Join(io.EOF, path)},
			`error("%w, %w",error("EOF"),error("%w\n%w",error("EOF"),error("open %s: %w","/a b",error("file does not exist"))))`},
		{"%v, %q, %v", []any{nil, io.EOF, []string{"a"}}, `error("%v, %q, %v","<nil>","\"EOF\"","[a]")`},
	} {
		want, got := fmt.Errorf(tt.format, tt.args...), umpire.Errorf(tt.format, tt.args...)
		if got.Error() != want.Error() || errors.Is(got, io.EOF) != errors.Is(want, io.EOF) {
			t.Errorf("%v, want %v", got, want)
		}
		if _, is := errors.AsType[*fs.PathError](got); is != errors.As(want, new(*fs.PathError)) {
			t.Errorf("%v: a path error: %t", got, is)
		}
		if phrase := umpire.PhraseOf(got); phrase != tt.phrase {
			t.Errorf("%v is\n%s, want\n%s", got, string(phrase), string(tt.phrase))
		}
		if text := catalogue.English.Text(umpire.PhraseOf(got)); text != want.Error() {
			t.Errorf("%q in English, want %q", text, want)
		}
	}
	if umpire.PhraseOf(nil) != "" {
		t.Error("no error says something")
	}
}

// TestSayError: an error argument becomes the phrase of its message.
func TestSayError(t *testing.T) {
	t.Parallel()
	if got, want := umpire.Say("%s, %s", io.EOF, 1), umpire.Phrase(`error("%s, %s",error("EOF"),"1")`); got != want {
		t.Errorf("%s, want %s", string(got), string(want))
	}
}
