//go:build !linux

package trial

import (
	"context"
	"time"
)

// read returns ErrUnavailable because this system has no layers.
func read(context.Context, Layer, limits) (Effects, error) { return Effects{}, ErrUnavailable }

// Run returns ErrUnavailable because this system does not support trials.
func Run(context.Context, Spec) (*Result, error) { return nil, ErrUnavailable }

// sweepLayers does nothing because this system has no layers.
func sweepLayers(string, func(string) bool, time.Time) error { return nil }
