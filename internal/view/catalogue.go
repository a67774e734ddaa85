package view

import (
	"strings"

	"github.com/umpirehq/umpire/policy"
)

// A Catalogue maps English texts to another language. The zero value is English. It
// is safe for concurrent use as long as nobody changes it.
type Catalogue map[string]string

// Of returns the text in the catalogue's language.
func (c Catalogue) Of(english string) string {
	if text, ok := c[english]; ok {
		return text
	}
	return english
}

// Word returns a word of a closed set, such as a verdict, which is kept under the name of
// its set: one word may need several translations.
func (c Catalogue) Word(set, english string) string {
	if text, ok := c[set+" "+english]; ok {
		return text
	}
	return english
}

// Reason returns the reason of a decision or of an access in the catalogue's language;
// the names and paths in it stay as they are. Of several reasons in a row each counts
// for itself. The one reason that is Chinese in every language gets its meaning beside it.
func (c Catalogue) Reason(english string) string {
	if c == nil {
		if explained, is := policy.ExplainSuffixRefusal(english); is {
			return english + " (" + explained + ")"
		}
		return english
	}
	if text, known := chineseReasons().reason(c, english); known {
		return text
	}
	first, rest, several := strings.Cut(english, "; ")
	if !several {
		return english
	}
	text, _ := chineseReasons().reason(c, first)
	return Joined(text, "; ", c.Reason(rest))
}

// Problem returns an error's text in the catalogue's language, as far as its parts are
// known; the names and paths in it stay as they are.
func (c Catalogue) Problem(english string) string {
	if c == nil {
		return english
	}
	lines := strings.Split(english, "\n")
	for i := range lines {
		lines[i] = chineseErrors().problem(c, lines[i])
	}
	return strings.Join(lines, "\n")
}
