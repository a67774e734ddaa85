package cli

import (
	"errors"
	"fmt"
)

// The exit codes; `umpire help exit-codes` prints the same table.
const (
	exitDone    = 0 // done, or the call is allowed
	exitError   = 1 // something went wrong
	exitDenied  = 2 // the call is denied
	exitAsks    = 3 // the call asks a person, or nobody answered in time
	exitUsage   = 4 // wrong usage or broken configuration
	exitGate    = 5 // the gate cannot be reached
	exitRefused = 6 // the state of things refuses it
)

// An exit is an error that knows its exit code. One without text prints nothing.
type exit struct {
	code int
	err  error
	hint string // what to do next, for people; may be empty
}

func (e *exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// ExitCode is the code the process ends with.
func (e *exit) ExitCode() int { return e.code }

// failed is an error of the world: a file, a disk. Nil stays nil.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return &exit{code: exitError, err: err}
}

// usage is an error of whoever typed the command or wrote the configuration.
func usage(hint, format string, args ...any) error {
	return &exit{code: exitUsage, err: fmt.Errorf(format, args...), hint: hint}
}

// refused says that the state of things stands against the command.
func refused(hint, format string, args ...any) error {
	return &exit{code: exitRefused, err: fmt.Errorf(format, args...), hint: hint}
}

// exitCode is the code for an error. What cobra reports by itself is wrong usage.
func exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	if e, ok := errors.AsType[*exit](err); ok {
		return e.code
	}
	return exitUsage
}

// hintOf is what an error says to do next, or "".
func hintOf(err error) string {
	if e, ok := errors.AsType[*exit](err); ok {
		return e.hint
	}
	return "umpire --help"
}
