//go:build !linux

package trial

import "context"

// Run says that a trial is not available on this system.
func Run(context.Context, Spec) (*Result, error) { return nil, ErrUnavailable }
