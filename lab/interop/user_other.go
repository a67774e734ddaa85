//go:build !linux

package interop

// ordinaryUser returns 0: everything is started as this process's own user.
func ordinaryUser() int { return 0 }
