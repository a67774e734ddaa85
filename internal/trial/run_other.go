//go:build !linux

package trial

import (
	"context"
	"time"
)

// read says that there are no layers on this system.
func read(context.Context, Layer, limits) (Effects, error) { return Effects{}, ErrUnavailable }

// Run says that a trial is not available on this system.
func Run(context.Context, Spec) (*Result, error) { return nil, ErrUnavailable }

// sweepLayers does nothing: this system has no layers.
func sweepLayers(string, func(string) bool, time.Time) error { return nil }
