package files

import "errors"

// MaxSocketPath is how long the path of a socket may be for every system to take it.
const MaxSocketPath = 103

// ErrSocketPath says that a socket's path is longer than this system takes.
var ErrSocketPath = errors.New("the path of the socket is too long for this system")

func keepNothing() error { return nil }
