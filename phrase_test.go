package umpire

import (
	"errors"
	"slices"
	"testing"
)

func TestPhraseParts(t *testing.T) {
	t.Parallel()
	unknown := Say("%s is not a program that is known", "no(su\"ch, x)")
	for _, tt := range []struct {
		phrase Phrase
		code   string
		args   []Phrase
		text   string
	}{
		{"", "", nil, ""},
		{"Tool classified as safe", "tool-is-safe", nil, ""},
		{unknown, "unknown-program", []Phrase{Verbatim("no(su\"ch, x)")}, ""},
		{Say("Cannot be judged: %s", unknown), "cannot-be-judged", []Phrase{unknown}, ""},
		{Say("several", 3, errors.New("e"), Phrase("a-b"), ""), "several", []Phrase{`"3"`, `error("e")`, "a-b", `""`}, ""},
		{Say("of", Phrase("Tool classified as safe")), "of", []Phrase{Verbatim("Tool classified as safe")}, ""},
		{Say("of", Phrase("")), "of", []Phrase{`""`}, ""},
		{Verbatim("safe"), "", nil, "safe"},
		{Verbatim("永久\xff\n"), "", nil, "永久\xff\n"},
		// What older versions stored is a text, whatever it looks like.
		{"Denied by rule: d1", "", nil, "Denied by rule: d1"},
		{"a(", "", nil, "a("},
		{"a(b", "", nil, "a(b"},
		{"a(b))", "", nil, "a(b))"},
		{`a("b`, "", nil, `a("b`},
		{`"a" "b"`, "", nil, `"a" "b"`},
		{"a b", "", nil, "a b"},
		{"-", "-", nil, ""},
	} {
		code, args, text := tt.phrase.Parts()
		if code != tt.code || !slices.Equal(args, tt.args) || text != tt.text {
			t.Errorf("%s: %q %q %q, want %q %q %q", string(tt.phrase), code, args, text, tt.code, tt.args, tt.text)
		}
	}
}

func TestPhraseString(t *testing.T) {
	t.Parallel()
	for phrase, want := range map[Phrase]string{
		"": "", Verbatim("a person's words"): "a person's words", "Tool classified as safe": "tool-is-safe",
		Say("%s is not a program that is known", "nosuch"): `unknown-program("nosuch")`,
	} {
		if got := phrase.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if said := Say("%s is not a program that is known", "nosuch"); !said.Is("%s is not a program that is known") || said.Is("unknown") || Phrase("").Is("x") {
		t.Error("Is")
	}
}

// FuzzPhraseParts: any text is some phrase, and what Say made comes apart as it was.
func FuzzPhraseParts(f *testing.F) {
	f.Add("a(b,\"c\")", "x")
	f.Add("((((", ")")
	f.Fuzz(func(t *testing.T, form, value string) {
		inner := Phrase(form)
		inner.Parts()
		code, args, _ := Say("code", inner, value).Parts()
		if code != "code" || len(args) != 2 {
			t.Fatalf("%q %q", code, args)
		}
		if args[0] != inner && args[0].String() != form {
			t.Errorf("%q came back as %q", form, args[0])
		}
		if _, _, text := args[1].Parts(); text != value {
			t.Errorf("%q came back as %q", value, text)
		}
	})
}
