package umpire_test

import (
	"testing"

	"github.com/umpirehq/umpire"
)

func TestConsequenceZeroValueIsTheWorst(t *testing.T) {
	t.Parallel()
	var zero umpire.Consequence
	for _, c := range []umpire.Consequence{umpire.Lost, umpire.Outward, umpire.Reversible, umpire.Harmless} {
		if !zero.AtLeast(c) {
			t.Errorf("the zero value is milder than %v", c)
		}
	}
}

func TestConsequenceNames(t *testing.T) {
	t.Parallel()
	for _, c := range []umpire.Consequence{umpire.Lost, umpire.Outward, umpire.Reversible, umpire.Harmless} {
		text, err := c.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var got umpire.Consequence
		if err := got.UnmarshalText(text); err != nil || got != c {
			t.Errorf("%s reads back as %v, %v", text, got, err)
		}
	}
	got := umpire.Outward
	if err := got.UnmarshalText([]byte("mild")); err == nil || got != umpire.Outward {
		t.Errorf("an unknown name gives %v, %v", got, err)
	}
}
