package view

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// errorTexts are the errors that other packages put together, one a line: the English
// one, a tab, and the one in 简体中文. In a text %s stands for a value, which stays as it
// is, and %w for another text, which is translated as well.
//
//go:embed chinese/error.tsv
var errorTexts string

// A phrasebook translates texts that are put together.
type phrasebook struct {
	whole   map[string]string
	formats map[string][]format // by the first word, "" for those that begin with a value
}

// A format is a text with values in it.
type format struct {
	between []string // what stands before, between and after the values
	within  []bool   // of each value, whether it is a text
	other   []string // what stands around the values in the other language
}

// chineseErrors is read when it is first wanted: most processes never do.
var chineseErrors = sync.OnceValue(func() *phrasebook { return newPhrasebook(errorTexts) })

func newPhrasebook(texts string) *phrasebook {
	p := &phrasebook{whole: map[string]string{}, formats: map[string][]format{}}
	for line := range strings.Lines(texts) {
		english, other, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		p.add(english, other)
	}
	for _, all := range p.formats { // the ones that say more come first
		slices.SortStableFunc(all, func(a, b format) int { return cmp.Compare(b.says(), a.says()) })
	}
	return p
}

func (f format) says() int { return len(strings.Join(f.between, "")) }

func (p *phrasebook) add(english, other string) {
	between, within := parts(english)
	if len(within) == 0 {
		p.whole[english] = other
		return
	}
	around, _ := parts(other)
	word := firstWord(between[0])
	p.formats[word] = append(p.formats[word], format{between, within, around})
}

// parts splits a text at its values.
func parts(text string) (between []string, within []bool) {
	for {
		at := strings.IndexByte(text, '%')
		if at < 0 || at+1 == len(text) {
			return append(between, text), within
		}
		between, within = append(between, text[:at]), append(within, text[at+1] == 'w')
		text = text[at+2:]
	}
}

// firstWord is the word that a text begins with, "" when it is not known to end.
func firstWord(text string) string {
	word, _, ends := strings.Cut(text, " ")
	if !ends {
		return ""
	}
	return word
}

// Problem returns an error's text in a language, as far as its parts are known; the names
// and paths in it stay as they are.
func Problem(text *catalogue.Language, english string) string {
	if text == catalogue.English {
		return english
	}
	lines := strings.Split(english, "\n")
	for i := range lines {
		lines[i] = chineseErrors().problem(text, lines[i])
	}
	return strings.Join(lines, "\n")
}

// problem translates an error, part by part where it is not known as a whole: errors are
// wrapped in others, with a colon between them.
func (p *phrasebook) problem(c *catalogue.Language, english string) string {
	inner := func(text string) string { return p.problem(c, text) }
	one := func(value string) bool { return colon(value) < 0 }
	text, known := p.translate(c, english, inner, one)
	at := colon(english)
	if known || at < 0 {
		return text
	}
	head, _ := p.translate(nil, english[:at], inner, one) // it may be the name of a field
	return Joined(head, ": ", p.problem(c, english[at+len(": "):]))
}

// colon is where the first part of an error ends, outside of what it quotes; -1 for one
// of a single part.
func colon(text string) int {
	quoted := false
	for i := 0; i+1 < len(text); i++ {
		switch {
		case text[i] == '\\' && quoted:
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == ':' && text[i+1] == ' ' && !quoted:
			return i
		}
	}
	return -1
}

// translate translates a text that is known as a whole. Inner translates the texts within
// it, and may says what can be a value.
func (p *phrasebook) translate(c *catalogue.Language, english string, inner func(string) string, may func(string) bool) (string, bool) {
	if text := c.Of(english); text != english {
		return text, true
	}
	if text, ok := p.whole[english]; ok {
		return text, true
	}
	for _, word := range []string{firstWord(english), ""} {
		for i := range p.formats[word] {
			f := &p.formats[word][i]
			if values := f.match(english, may); values != nil {
				return f.fill(values, inner), true
			}
		}
		if word == "" {
			break
		}
	}
	return english, false
}

func (f *format) fill(values []string, inner func(string) string) string {
	var b strings.Builder
	for i, value := range values {
		b.WriteString(f.other[i])
		if f.within[i] {
			value = inner(value)
		}
		b.WriteString(value)
	}
	b.WriteString(f.other[len(values)])
	return b.String()
}

// match returns the values of a text that has the format, or nil.
func (f *format) match(text string, may func(string) bool) []string {
	rest, ok := strings.CutPrefix(text, f.between[0])
	if !ok {
		return nil
	}
	var values []string
	last := len(f.between) - 1
	for i, literal := range f.between[1:] {
		value, after, found := strings.Cut(rest, literal)
		if i+1 == last { // it ends with the text
			value, found = strings.CutSuffix(rest, literal)
		}
		if !found || !f.within[i] && !may(value) {
			return nil
		}
		values, rest = append(values, value), after
	}
	return values
}
