package view

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
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

// Reason returns what a phrase says in the catalogue's language. The one text that is
// Chinese in every language gets its meaning beside it.
func (c Catalogue) Reason(said umpire.Phrase) string {
	if c != nil {
		return catalogue.Chinese.Text(said)
	}
	text := catalogue.English.Text(said)
	if code, args, _ := said.Parts(); code == "suffix-refused" {
		text += " (" + catalogue.English.Text(umpire.Say("suffix-refused-in-english", args[0])) + ")"
	}
	return text
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
