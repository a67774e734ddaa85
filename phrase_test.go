package umpire

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestPhraseParts(t *testing.T) {
	t.Parallel()
	unknown := Say("unknown program: %s", "no(su\"ch, x)")
	for _, tt := range []struct {
		phrase Phrase
		text   string
		args   []Phrase
		kind   phraseKind
	}{
		{"", "", nil, isVerbatim},
		{"Tool classified as safe", "Tool classified as safe", nil, isFormat},
		{unknown, "unknown program: %s", []Phrase{Verbatim("no(su\"ch, x)")}, isFormat},
		{Say("cannot be judged: %s", unknown), "cannot be judged: %s", []Phrase{unknown}, isFormat},
		{
			Say("%s %s %s %s", 3, errors.New("e"), Phrase("a b"), ""),
			"%s %s %s %s", []Phrase{`"3"`, `error("e")`, `error("a b")`, `""`}, isFormat,
		},
		{Say("of %s", Phrase("")), "of %s", []Phrase{`""`}, isFormat},
		{Say("100%% of %q and %s", "x", "y"), "100%% of %q and %s", []Phrase{`"\"x\""`, `"y"`}, isFormat},
		{Say("%q", Verbatim("x")), "%q", []Phrase{`"x"`}, isFormat},
		{Verbatim("safe"), "safe", nil, isVerbatim},
		{Verbatim("永久\xff\n"), "永久\xff\n", nil, isVerbatim},
		// Older versions stored codes, and texts of any form.
		{"tool-is-safe", "tool-is-safe", nil, isCode},
		{`unknown-program("x")`, "unknown-program", []Phrase{`"x"`}, isCode},
		{"Denied by rule: d1", "Denied by rule: d1", nil, isFormat},
		{"a(", "a(", nil, isFormat},
		{"a(b", "a(b", nil, isFormat},
		{"a(b))", "a(b))", nil, isFormat},
		{`a("b`, `a("b`, nil, isFormat},
		{`"a" "b"`, `"a" "b"`, nil, isFormat},
		{"-", "-", nil, isCode},
	} {
		text, args, kind := tt.phrase.parts()
		if text != tt.text || !slices.Equal(args, tt.args) || kind != tt.kind {
			t.Errorf("%s: %q %q %d, want %q %q %d", string(tt.phrase), text, args, kind, tt.text, tt.args, tt.kind)
		}
	}
}

func TestPhraseString(t *testing.T) {
	t.Parallel()
	for phrase, want := range map[Phrase]string{
		"": "", Verbatim("a person's words"): "a person's words", "tool-is-safe": "tool-is-safe",
		Say("unknown program: %s", "nosuch"):        "unknown program: nosuch",
		`unknown-program("nosuch")`:                 `unknown-program("nosuch")`,
		Say("%q of %w", `a"b`, errors.New("100%d")): `"a\"b" of 100%d`,
		Say("%s: %s", Say("no %q", "x"), 7):         `no "x": 7`,
	} {
		if got := phrase.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	nested := Phrase(strings.Repeat(`error("<%s>",`, maxNesting+1) + `"x"` + strings.Repeat(")", maxNesting+1))
	if got := nested.String(); got != string(nested) {
		t.Errorf("nested too deeply: %q", got)
	}
	if got := nested[len(`error("<%s>",`) : len(nested)-1].String(); got != strings.Repeat("<", maxNesting)+"x"+
		strings.Repeat(">", maxNesting) {
		t.Errorf("nested: %q", got)
	}
	said := Say("unknown program: %s", "nosuch")
	if !said.Is("unknown program: %s") || said.Is("unknown program") || Phrase("").Is("x") || Verbatim("x").Is("x") {
		t.Error("Is")
	}
}

// FuzzPhrase: any text is a valid phrase, and the arguments of a message are shown unchanged.
func FuzzPhrase(f *testing.F) {
	f.Add("a(b,\"c\")", "x")
	f.Add("((((", ")")
	f.Add("tool-is-safe", "%q")
	f.Fuzz(func(t *testing.T, form, value string) {
		inner := Phrase(form)
		want := fmt.Sprintf("<%s> %s %q", inner.String(), value, value)
		if got := Say("<%s> %s %q", inner, value, value).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := Verbatim(value).String(); got != value {
			t.Errorf("%q, want %q", got, value)
		}
	})
}
