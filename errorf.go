package umpire

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Errorf returns an error with the same text as [fmt.Errorf], which wraps the same errors. It
// keeps its format and arguments to allow [PhraseOf] to translate it. Each argument is used
// once, by a verb without an index.
func Errorf(format string, args ...any) error {
	return &formattedError{fmt.Errorf(format, args...), format, args}
}

// A formattedError keeps the format and arguments of its text.
type formattedError struct {
	error

	format string
	args   []any
}

// Unwrap returns the error of package fmt, which wraps the arguments that are errors.
func (e *formattedError) Unwrap() error { return e.error }

// Phrase returns the error's message as data.
func (e *formattedError) Phrase() Phrase {
	if len(e.args) == 0 {
		return plain(e.Error())
	}
	said := make([]any, len(e.args))
	for i, arg := range e.args {
		said[i] = &argument{value: arg}
	}
	_ = fmt.Errorf(e.format, said...) // each argument records how its verb formats it
	return Say(e.format, said...)
}

// PhraseOf returns an error's message as data: its English format with the arguments, in which
// errors become phrases too. For an error that [Errorf] did not make it returns the result of
// its Phrase method, or the phrase of the error it wraps, or else its whole text. For nil it
// returns "".
func PhraseOf(err error) Phrase {
	switch e := err.(type) { //nolint:errorlint // each error of a chain speaks for itself
	case nil:
		return ""
	case interface{ Phrase() Phrase }:
		return e.Phrase()
	case *fs.PathError:
		return Say(e.Op+" %s: %w", e.Path, PhraseOf(e.Err))
	case interface{ Unwrap() []error }:
		return phraseOfAll(err, e.Unwrap())
	}
	inner := errors.Unwrap(err)
	if inner == nil {
		return plain(err.Error())
	}
	if before, wraps := strings.CutSuffix(err.Error(), inner.Error()); wraps && before != "" {
		return Say("%s%w", before, PhraseOf(inner))
	}
	if err.Error() == inner.Error() {
		return PhraseOf(inner)
	}
	return plain(err.Error())
}

// phraseOfAll returns the message of an error that joins others, one per line.
func phraseOfAll(err error, all []error) Phrase {
	if err.Error() != errors.Join(all...).Error() {
		return plain(err.Error())
	}
	parts := make([]any, len(all))
	for i, one := range all {
		parts[i] = PhraseOf(one)
	}
	return Say(strings.Repeat("%w\n", len(all)-1)+"%w", parts...)
}

// An argument records how its verb formats it.
type argument struct {
	value any
	said  Phrase
}

// Error makes it an error, as the verb %w requires.
func (a *argument) Error() string { return "" }

// Phrase returns the formatted argument.
func (a *argument) Phrase() Phrase { return a.said }

// Format implements fmt.Formatter.
func (a *argument) Format(state fmt.State, verb rune) {
	if err, is := a.value.(error); is && (verb == 'v' || verb == 's') {
		a.said = PhraseOf(err)
		return
	}
	a.said = Verbatim(fmt.Sprintf(fmt.FormatString(state, verb), a.value))
}
