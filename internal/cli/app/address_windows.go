package app

import (
	"errors"

	"golang.org/x/sys/windows"
)

// refusedConnection reports whether err means that nothing listens on the address.
func refusedConnection(err error) bool { return errors.Is(err, windows.WSAECONNREFUSED) }
