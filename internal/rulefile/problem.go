package rulefile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
	"github.com/umpirehq/umpire/internal/files"
)

// maxProblems limits the stored problems of one file. A longer list would not help
// anyone.
const maxProblems = 100

// maxProblemText limits the quoted text in a problem, in bytes.
const maxProblemText = 300

// A Problem is something wrong in a rule file, and where. Line and Column count
// from 1; 0 means that the file as a whole is meant. It is an error.
type Problem struct { //nolint:errname // people read "problem"; that it is an error is one use of it
	File   string
	Line   int
	Column int
	Text   string
}

// Error returns "FILE:LINE:COLUMN: TEXT", on one line and safe to print.
func (p Problem) Error() string {
	var b strings.Builder
	b.WriteString(escapeControl(p.File))
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	return b.String() + ": " + p.Text
}

// Phrase returns the problem as a phrase.
func (p Problem) Phrase() umpire.Phrase {
	place, _ := strings.CutSuffix(p.Error(), ": "+p.Text)
	return umpire.PhraseOf(umpire.Errorf("%s: %w", place, errors.New(p.Text)))
}

// escapeControl escapes control characters. Error texts of parsers and file names
// repeat bytes that a stranger chose.
func escapeControl(s string) string {
	s = files.ClipTo(s, maxProblemText, "...")
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if unicode.IsGraphic(r) && (r != utf8.RuneError || size > 1) {
			b.WriteRune(r)
		} else {
			quoted := strconv.Quote(s[i : i+size])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		i += size
	}
	return b.String()
}

func sortProblems(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// problemOf returns an error in a file as a problem, at its position if it has one.
func problemOf(path string, err error) *Problem {
	p := &Problem{File: path}
	if at, ok := errors.AsType[*docedit.Error](err); ok {
		p.Line, p.Column, err = at.Line, at.Column, at.Err
	}
	p.Text = escapeControl(err.Error())
	return p
}
