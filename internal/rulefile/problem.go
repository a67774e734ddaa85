package rulefile

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxProblems is how many problems of one file are kept. A file with more is
// beyond reading them one by one.
const MaxProblems = 100

// maxProblemText bounds what a problem quotes from a file.
const maxProblemText = 300

// A Problem is something wrong in a rule file, and where. Line and Column count
// from 1; 0 means that the file as a whole is meant. It is an error.
type Problem struct {
	File   string
	Line   int
	Column int
	Text   string
}

// Error returns "FILE:LINE:COLUMN: TEXT", on one line and safe to print.
func (p Problem) Error() string {
	var b strings.Builder
	b.WriteString(printable(p.File))
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	return b.String() + ": " + p.Text
}

// printable escapes what a terminal would obey. Texts of parsers and names of
// files repeat bytes that a stranger chose.
func printable(s string) string {
	if len(s) > maxProblemText {
		s = s[:maxProblemText] + "..."
	}
	quoted := strconv.QuoteToGraphic(s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

func sortProblems(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// A source is the text of a file with what it takes to say where an offset is.
type source struct {
	path  string
	data  []byte
	lines []int // offset of the first byte of each line, made on first use
}

// at returns the line and the column of an offset. Columns count characters.
func (s *source) at(offset int) (line, column int) {
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
	return i + 1, 1 + utf8.RuneCount(s.data[s.lines[i]:offset])
}

// problem describes what is wrong at an offset.
func (s *source) problem(offset int, format string, args ...any) *Problem {
	line, column := s.at(offset)
	return &Problem{File: s.path, Line: line, Column: column, Text: printable(fmt.Sprintf(format, args...))}
}
