// Package catalogue looks up messages in the language of a person. Package languages has the languages.
//
// English stands where it is said: a text in the program is its own key. Older versions stored the codes of texts;
// codes.tsv, which is sorted and never changes, tells the text of each.
package catalogue

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/umpirehq/umpire"
)

//go:embed codes.tsv
var codes string

// A Language is what a person reads. A nil one is English. It is safe for concurrent use.
type Language struct {
	texts func() map[string]string // by the English ones
}

// English is the language of the program itself, and of what machines read.
var English *Language

// New returns the language with the texts that a function returns by the English ones, and by "SET WORD" for a word
// of a set. The function is called for each text.
func New(texts func() map[string]string) *Language { return &Language{texts} }

// lookUp returns what an English text is in the language, and whether it is known there.
func (l *Language) lookUp(text string) (string, bool) {
	if l == nil {
		return text, false
	}
	found, known := l.texts()[text]
	return found, known
}

// Of returns an English text in the language. One without a translation stays English.
func (l *Language) Of(text string) string {
	if found, known := l.lookUp(text); known {
		return found
	}
	return text
}

// Word returns a word of a closed set, such as a verdict, which is kept under the name of
// its set: one word may need several translations.
func (l *Language) Word(set, word string) string {
	if found, known := l.lookUp(set + " " + word); known {
		return found
	}
	if set == "session state" && word == string(umpire.SessionWaiting) {
		return "waiting" // nobody would say the code
	}
	return word
}

// Count returns a text about a number of things: one of them, or several.
func (l *Language) Count(n int, one, more string) string {
	if n == 1 {
		more = one
	}
	return fmt.Sprintf(l.Of(more), n)
}

// suffixRefused is Chinese in every language. Readers of English are told its meaning, too.
const (
	suffixRefused          = "你没有权限编辑 %s 类型文件的权限,请注意你的任务权限范围"
	suffixRefusedInEnglish = suffixRefused + " (this agent may not edit files of the type %[1]s)"
)

// Reason returns the text of a phrase for a person. The one text that is Chinese in every
// language has its meaning beside it in English.
func (l *Language) Reason(p umpire.Phrase) string {
	return p.In(func(format string) string {
		if format = l.translate(format); l == English && format == suffixRefused {
			return suffixRefusedInEnglish
		}
		return format
	})
}

// Text returns the text of a phrase in the language.
func (l *Language) Text(p umpire.Phrase) string { return p.In(l.translate) }

// translate returns a format, or that of a code of an older version, in the language.
func (l *Language) translate(format string) string {
	if text, known := findText(codes, format); known {
		format = text
	}
	return l.Of(format)
}

// Error returns what an error says to a person.
func (l *Language) Error(err error) string {
	if l == English {
		return err.Error()
	}
	return l.Text(umpire.PhraseOf(err))
}

// AsError returns an error that says a phrase: in English, and in other languages where it is looked up.
func AsError(p umpire.Phrase) error { return spoken(p) }

// A spoken phrase is an error.
type spoken umpire.Phrase

func (s spoken) Error() string { return English.Reason(s.Phrase()) }

// Phrase returns it as data.
func (s spoken) Phrase() umpire.Phrase { return umpire.Phrase(s) }

// findText returns the text of a code in sorted lines.
func findText(lines, code string) (text string, known bool) {
	for lines != "" {
		start := strings.LastIndexByte(lines[:len(lines)/2], '\n') + 1
		line, after, _ := strings.Cut(lines[start:], "\n")
		at, text, _ := strings.Cut(line, "\t")
		switch {
		case at == code:
			return text, true
		case at < code:
			lines = after
		default:
			lines = lines[:start]
		}
	}
	return "", false
}
