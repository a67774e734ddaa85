// Package catalogue holds what umpire says, by code and language.
//
//	catalogue.English.Text(decision.Reason)
//
// A file for each language has a line for each code of a [umpire.Phrase]: the code, a tab
// and the text, sorted by code. A text names its arguments as fmt does, with %s or %q, and
// %[2]s where the language wants another order. A further language is one more file.
//
// Looking up a text reads no more of the file than it needs, so that a program that says
// one thing pays for one.
package catalogue

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/umpirehq/umpire"
)

//go:embed english.tsv
var english string

//go:embed chinese.tsv
var chinese string

// A Language is what a person reads. The zero value is English.
type Language uint8

// The languages.
const (
	English Language = iota
	Chinese          // 简体中文
)

// lines are the language's file.
func (l Language) lines() string {
	if l == Chinese {
		return chinese
	}
	return english
}

// Text returns what a phrase says in the language. One whose code is not known, as that
// of a later version, is returned as it stands.
func (l Language) Text(p umpire.Phrase) string {
	code, args, text := p.Parts()
	if code == "" {
		return text
	}
	format, known := findText(l.lines(), code)
	switch {
	case !known:
		return string(p)
	case len(args) == 0:
		return format
	}
	texts := make([]any, len(args))
	for i, arg := range args {
		texts[i] = l.Text(arg)
	}
	return fmt.Sprintf(format, texts...)
}

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
