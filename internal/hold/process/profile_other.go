//go:build !unix

package process

import (
	"errors"
	"os"
)

// openProfile fails on this system, which cannot tell whose file it is.
func openProfile(string) (*os.File, error) { return nil, errors.ErrUnsupported }
