//go:build !linux

package conformance

// OrdinaryUser returns 0: everything is started as this process's own user.
func OrdinaryUser() int { return 0 }
