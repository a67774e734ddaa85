//go:build !windows

package app

import (
	"errors"
	"syscall"
)

// refusedConnection reports whether nobody listens where something did once.
func refusedConnection(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
