//go:build !linux

package cli

// ancestors is not known on this system: what an agent starts is told by its
// environment alone.
func ancestors(int) []ancestor { return nil }
