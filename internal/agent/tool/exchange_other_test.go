//go:build !linux

package tool

import "os"

// exchange swaps two names, one after the other.
func exchange(a, b string) {
	_ = os.Rename(a, a+".kept")
	_ = os.Rename(b, a)
	_ = os.Rename(a+".kept", b)
}
