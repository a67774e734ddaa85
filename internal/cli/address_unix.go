//go:build !windows

package cli

import (
	"errors"
	"syscall"
)

// refusedConnection reports whether nobody listens where something did once.
func refusedConnection(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
