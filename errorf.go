package umpire

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Errorf returns an error as [fmt.Errorf] does: its text is the same, and it wraps the same.
// It keeps its format and arguments, so that [PhraseOf] can say it in another language.
// An argument is used once, by a verb without an index.
func Errorf(format string, args ...any) error {
	return &formattedError{fmt.Errorf(format, args...), format, args}
}

// A formattedError knows what its text was made of.
type formattedError struct {
	error

	format string
	args   []any
}

// Unwrap returns the error of package fmt, which wraps what the arguments are.
func (e *formattedError) Unwrap() error { return e.error }

// Phrase returns what the error says, as data.
func (e *formattedError) Phrase() Phrase {
	if len(e.args) == 0 {
		return Say(errorCode, e.Error())
	}
	said := make([]any, len(e.args))
	parts := []any{e.format}
	for i, arg := range e.args {
		a := &argument{value: arg}
		said[i], parts = a, append(parts, a)
	}
	_ = fmt.Errorf(e.format, said...) // each notes how its verb shows it
	return Say(errorCode, parts...)
}

// errorCode is the code of a phrase whose first argument is the format of the others.
const errorCode = "error"

// PhraseOf returns what an error says, as data: its English format with the arguments, of
// which errors are phrases again. An error that was not made by [Errorf] has none: it says
// its Phrase method if it has one, or what it wraps, and else its text as a whole. A nil
// error says nothing.
func PhraseOf(err error) Phrase {
	switch e := err.(type) { //nolint:errorlint // each error of a chain speaks for itself
	case nil:
		return ""
	case interface{ Phrase() Phrase }:
		return e.Phrase()
	case *fs.PathError:
		return Say(errorCode, e.Op+" %s: %w", e.Path, PhraseOf(e.Err))
	case interface{ Unwrap() []error }:
		return phraseOfAll(err, e.Unwrap())
	}
	inner := errors.Unwrap(err)
	if inner == nil {
		return Say(errorCode, err.Error())
	}
	if before, wraps := strings.CutSuffix(err.Error(), inner.Error()); wraps && before != "" {
		return Say(errorCode, "%s%w", before, PhraseOf(inner))
	}
	if err.Error() == inner.Error() {
		return PhraseOf(inner)
	}
	return Say(errorCode, err.Error())
}

// phraseOfAll returns what an error says that is others, a line each.
func phraseOfAll(err error, all []error) Phrase {
	if err.Error() != errors.Join(all...).Error() {
		return Say(errorCode, err.Error())
	}
	parts := []any{strings.Repeat("%w\n", len(all)-1) + "%w"}
	for _, one := range all {
		parts = append(parts, PhraseOf(one))
	}
	return Say(errorCode, parts...)
}

// An argument of a format notes how its verb shows it.
type argument struct {
	value any
	said  Phrase
}

// Error makes it an error, as the verb %w wants.
func (a *argument) Error() string { return "" }

// Phrase returns how it is shown.
func (a *argument) Phrase() Phrase { return a.said }

// Format is called by package fmt.
func (a *argument) Format(state fmt.State, verb rune) {
	if err, is := a.value.(error); is && (verb == 'v' || verb == 's') {
		a.said = PhraseOf(err)
		return
	}
	a.said = Verbatim(fmt.Sprintf(fmt.FormatString(state, verb), a.value))
}
