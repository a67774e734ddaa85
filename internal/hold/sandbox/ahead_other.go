//go:build !linux

package sandbox

import "os"

// An Ahead is only useful on systems whose helper can start before its order is known.
type Ahead struct{}

// StartAhead returns nil on this system.
func StartAhead(*os.File, bool) *Ahead { return nil }

// End does nothing on this system.
func (a *Ahead) End() {}
