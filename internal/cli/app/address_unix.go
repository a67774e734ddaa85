//go:build !windows

package app

import (
	"errors"
	"syscall"
)

// refusedConnection reports whether err means that the socket exists but nothing listens on it.
func refusedConnection(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
