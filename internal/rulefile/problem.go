package rulefile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/umpirehq/umpire"
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

// A source is the text of a file, with the data to find the position of an offset.
type source struct {
	path  string
	data  []byte
	lines []int // offset of the first byte of each line, made on first use

	// The last answer. Most questions go forward, and counting a long line
	// from its start for each of them would take forever.
	offset, line, column int
}

// lineColumn returns the line and the column of an offset. Columns count characters.
func (s *source) lineColumn(offset int) (line, column int) {
	if s.lines == nil {
		s.lines = append(make([]int, 0, 1+bytes.Count(s.data, []byte("\n"))), 0)
		for i, c := range s.data {
			if c == '\n' {
				s.lines = append(s.lines, i+1)
			}
		}
	}
	offset = min(offset, len(s.data))
	i, found := slices.BinarySearch(s.lines, offset)
	if !found {
		i--
	}
	from, column := s.lines[i], 1
	if s.line == i+1 && s.offset <= offset {
		from, column = s.offset, s.column
	}
	column += utf8.RuneCount(s.data[from:offset])
	s.offset, s.line, s.column = offset, i+1, column
	return s.line, s.column
}

// place returns the position of an offset, without a problem's text.
func (s *source) place(offset int) Problem {
	line, column := s.lineColumn(offset)
	return Problem{File: s.path, Line: line, Column: column}
}

// problem describes an error at an offset.
func (s *source) problem(offset int, format string, args ...any) *Problem {
	p := s.place(offset)
	p.Text = escapeControl(fmt.Sprintf(format, args...))
	return &p
}
