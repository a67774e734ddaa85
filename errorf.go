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
		return plain(e.Error())
	}
	said := make([]any, len(e.args))
	for i, arg := range e.args {
		said[i] = &argument{value: arg}
	}
	_ = fmt.Errorf(e.format, said...) // each notes how its verb shows it
	return Say(e.format, said...)
}

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

// phraseOfAll returns what an error says that is others, a line each.
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
