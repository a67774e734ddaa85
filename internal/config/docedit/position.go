package docedit

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/umpirehq/umpire"
)

// A Pos is a position in a file. Line and Column count from 1, and columns count characters.
type Pos struct{ Offset, Line, Column int }

// Fault returns an error at the position, or nil for nil.
func (p Pos) Fault(err error) error {
	if err == nil {
		return nil
	}
	return &Error{p, err}
}

// An Error is an error at a position in a file.
type Error struct {
	Pos

	Err error
}

// Error returns the text with the position.
func (e *Error) Error() string { return e.located().Error() }

// Phrase returns the text with the position.
func (e *Error) Phrase() umpire.Phrase { return umpire.PhraseOf(e.located()) }

// Unwrap returns the error without its position.
func (e *Error) Unwrap() error { return e.Err }

// Locate returns an error with its own position, or with the position at.
func Locate(err error, at Pos) *Error {
	if located, ok := errors.AsType[*Error](err); ok {
		return located
	}
	return &Error{at, err}
}

func (e *Error) located() error {
	return umpire.Errorf("line %d, column %d: %w", e.Line, e.Column, e.Err)
}

// Lines finds the positions of offsets in a text.
type Lines struct {
	Text string

	starts []int // offset of the first byte of each line, made on first use
	// The last answer. Most questions go forward, and counting a long line from its start for each of
	// them would take forever.
	last Pos
}

// At returns the position of an offset. An offset after the end counts as the end.
func (l *Lines) At(offset int) Pos {
	if l.starts == nil {
		l.starts = append(make([]int, 0, 1+strings.Count(l.Text, "\n")), 0)
		for i := range len(l.Text) {
			if l.Text[i] == '\n' {
				l.starts = append(l.starts, i+1)
			}
		}
	}
	offset = min(offset, len(l.Text))
	i, found := slices.BinarySearch(l.starts, offset)
	if !found {
		i--
	}
	from, column := l.starts[i], 1
	if l.last.Line == i+1 && l.last.Offset <= offset {
		from, column = l.last.Offset, l.last.Column
	}
	l.last = Pos{offset, i + 1, column + utf8.RuneCountInString(l.Text[from:offset])}
	return l.last
}

// offset returns the offset of a line and a column in bytes.
func (l *Lines) offset(line, column int) int {
	l.At(0)
	if line < 1 || line > len(l.starts) {
		return len(l.Text)
	}
	return min(l.starts[line-1]+column-1, len(l.Text))
}
