package main

import "errors"

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
