//go:build !linux

package trial

import "context"

// Read says that there are no layers on this system.
func Read(context.Context, Layer, Limits) (Effects, error) { return Effects{}, ErrUnavailable }
