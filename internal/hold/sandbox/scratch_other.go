//go:build !linux && !darwin

package sandbox

// lockScratch does nothing on this system.
func lockScratch(string) (release func(), err error) { return func() {}, nil }

// seizeScratch never succeeds: this system cannot tell whether a process has died.
func seizeScratch(string) (free func(), dead bool) { return nil, false }
