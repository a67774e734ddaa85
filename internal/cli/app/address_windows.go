package app

import (
	"errors"

	"golang.org/x/sys/windows"
)

// refusedConnection reports whether nobody listens where something did once.
func refusedConnection(err error) bool { return errors.Is(err, windows.WSAECONNREFUSED) }
