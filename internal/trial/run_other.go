//go:build !linux

package trial

import (
	"context"
	"time"
)

// Read says that there are no layers on this system.
func Read(context.Context, Layer, Limits) (Effects, error) { return Effects{}, ErrUnavailable }

// Run says that a trial is not available on this system.
func Run(context.Context, Spec) (*Result, error) { return nil, ErrUnavailable }

// SweepLayers does nothing: this system has no layers.
func SweepLayers(string, func(string) bool, time.Time) error { return nil }
