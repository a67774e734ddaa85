package files

import "errors"

// MaxSocketPath is the maximum length of a socket's path that all systems accept.
const MaxSocketPath = 103

// ErrSocketPath means that a socket's path is too long for this system.
var ErrSocketPath = errors.New("the path of the socket is too long for this system")

func keepNothing() error { return nil }
