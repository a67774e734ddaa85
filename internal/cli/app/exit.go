package app

import (
	"errors"

	"github.com/umpirehq/umpire"
)

// The exit codes; `umpire help exit-codes` prints the same table.
const (
	ExitDone    = 0 // done, or the call is allowed
	ExitError   = 1 // something went wrong
	ExitDenied  = 2 // the call is denied
	ExitAsks    = 3 // the call asks a person, or was not answered in time
	ExitUsage   = 4 // wrong usage or broken configuration
	ExitGate    = 5 // the gate cannot be reached
	ExitRefused = 6 // the state of things refuses it
	ExitWidens  = 7 // a change of rules or settings permits more
)

// A CommandError is an error with an exit code. An error without a text prints nothing.
type CommandError struct {
	Code int
	Err  error
	Hint string // the next step for people; may be empty
}

// Error returns the text of the error, or "" if the exit code says everything.
func (e *CommandError) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

// Phrase returns the error as a phrase.
func (e *CommandError) Phrase() umpire.Phrase { return umpire.PhraseOf(e.Err) }

// Unwrap returns the error that has the exit code.
func (e *CommandError) Unwrap() error { return e.Err }

// Failed is an error of the environment: a file, a disk. Nil stays nil.
func Failed(err error) error {
	if err == nil {
		return nil
	}
	return &CommandError{Code: ExitError, Err: err}
}

// Usage is an error of the person who typed the command or wrote the configuration.
func Usage(hint, format string, args ...any) error {
	return &CommandError{Code: ExitUsage, Err: umpire.Errorf(format, args...), Hint: hint}
}

// Refused returns an error that says that the current state does not permit the command.
func Refused(hint, format string, args ...any) error {
	return &CommandError{Code: ExitRefused, Err: umpire.Errorf(format, args...), Hint: hint}
}

// ExitCode is the code for an error. Errors that cobra reports by itself are wrong usage.
func ExitCode(err error) int {
	if err == nil {
		return ExitDone
	}
	if e, ok := errors.AsType[*CommandError](err); ok {
		return e.Code
	}
	return ExitUsage
}

// HintOf returns the next step for the user after an error of a command, or "".
func HintOf(command string, err error) string {
	if e, ok := errors.AsType[*CommandError](err); ok && (e.Hint != "" || e.Code != ExitUsage) {
		return e.Hint
	}
	return command + " --help"
}
